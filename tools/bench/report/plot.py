# SPDX-License-Identifier: GPL-2.0
"""Lines over two axes, as SVG for a page without other files."""

import dataclasses
import html
import math

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 26, 34, 46


@dataclasses.dataclass
class Line:
    """A line: its name, its class in the style sheet, and its points."""

    name: str
    style: str
    points: list


class Axis:
    """Maps values to positions."""

    def __init__(self, values, begin, end, logarithmic):
        self.begin, self.end, self.logarithmic = begin, end, logarithmic
        low, high = min(values), max(values)
        if logarithmic:
            self.low, self.high = self._scale(low), self._scale(high)
        else:
            # Leaves room above the last point.
            self.low, self.high = min(0, low), high * 1.05
        if self.high <= self.low:
            self.high = self.low + 1

    def _scale(self, value):
        return math.log10(max(value, 1e-9)) if self.logarithmic else value

    def place(self, value):
        """The position of a value."""
        share = (self._scale(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        """Some round values on the axis."""
        if self.logarithmic:
            span = self.high - self.low
            if span < 0.7:
                return self._even(10 ** self.low, 10 ** self.high)
            parts = (1, 2, 5) if span < 2 else (1, 3) if span < 3 else (1,)
            found = [part * 10.0 ** power
                     for power in range(math.floor(self.low), math.ceil(self.high) + 1)
                     for part in parts]
            found = [value for value in found
                     if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9]
            return found if len(found) > 1 else [10 ** self.low, 10 ** self.high]
        return self._even(self.low, self.high)

    @staticmethod
    def _even(low, high):
        step = 10 ** math.floor(math.log10(high - low))
        for part in 0.1, 0.2, 0.5, 1, 2:
            if (high - low) / (step * part) <= 6:
                step *= part
                break
        return [step * index
                for index in range(math.ceil(low / step), math.floor(high / step) + 1)]


def short(value):
    """Format a number with a decimal unit: 1500000 is 1.5M."""
    for unit, letter in (1e9, "G"), (1e6, "M"), (1e3, "k"):
        if abs(value) >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def legend(lines):
    """Names above the plot."""
    left = LEFT
    for line in lines:
        yield f'<line class="{line.style}" x1="{left}" y1="{TOP - 8}" x2="{left + 16}" y2="{TOP - 8}"/>'
        yield f'<text x="{left + 20}" y="{TOP - 4}">{html.escape(line.name)}</text>'
        left += 32 + 6.4 * len(line.name)


def axes(across, upwards, labels, x_ticks):
    """Both axes with their ticks."""
    bottom = HEIGHT - BOTTOM
    for value, said in x_ticks or [(value, short(value)) for value in across.ticks()]:
        place = across.place(value)
        yield f'<line class="grid" x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{bottom}"/>'
        yield (f'<text class="middle" x="{place:.1f}" y="{bottom + 15}">'
               f'{said}</text>')
    for value in upwards.ticks():
        place = upwards.place(value)
        yield (f'<line class="grid" x1="{LEFT}" y1="{place:.1f}" x2="{WIDTH - RIGHT}" '
               f'y2="{place:.1f}"/>')
        yield f'<text class="end" x="{LEFT - 5}" y="{place + 4:.1f}">{short(value)}</text>'
    middle = (TOP + bottom) / 2
    yield (f'<text class="middle" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}">'
           f'{html.escape(labels[0])}</text>')
    yield (f'<text class="middle" transform="translate(14 {middle}) rotate(-90)">'
           f'{html.escape(labels[1])}</text>')


def plot(title, lines, labels, logarithmic=(False, False), x_ticks=None):
    """A figure; empty if there is nothing to draw."""
    lines = [line for line in lines if line.points]
    if not lines:
        return ""
    across = Axis([x for line in lines for x, _ in line.points], LEFT, WIDTH - RIGHT,
                  logarithmic[0])
    upwards = Axis([y for line in lines for _, y in line.points], HEIGHT - BOTTOM, TOP,
                   logarithmic[1])
    parts = [f'<figure><figcaption>{html.escape(title)}</figcaption>',
             f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             f'aria-label="{html.escape(title, quote=True)}">',
             *legend(lines), *axes(across, upwards, labels, x_ticks)]
    for line in lines:
        places = [(across.place(x), upwards.place(y)) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="{line.style}" points="{path}"/>')
        for (x, y), (place_x, place_y) in zip(line.points, places):
            parts.append(f'<circle class="{line.style}" cx="{place_x:.1f}" cy="{place_y:.1f}" '
                         f'r="2.5"><title>{html.escape(line.name)}: {short(x)}, {short(y)}'
                         '</title></circle>')
    return "\n".join([*parts, "</svg></figure>"])

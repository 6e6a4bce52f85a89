"""Pictures of fronts: scales, SVG, PNG and the page."""

from __future__ import annotations

import importlib.util
import re
import sys
from base64 import b64decode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.counts import CodedAttribute
from discreet.errors import UsageError
from discreet.report.charts.scales import Scale
from discreet.report.charts.svg import DARK, LIGHT
from discreet.report.front.drawing import png, svg
from discreet.report.front.page import page
from discreet.report.front.picture import FrontPicture, PicturePoint, RecodedAttribute, recoded_attributes
from discreet.report.numbers import number_text, percent, short_number

NASTY = "a<b>&\"'</script><script>alert(1)</script>"
RECODING = (
    RecodedAttribute("age", 8, 72, 2, 4),
    RecodedAttribute("sex", 2, 2, 0, 1),
    RecodedAttribute(NASTY, 1, 9, 3, 3),
)


def point(value: float, loss: float, **more: object) -> PicturePoint:
    return PicturePoint(value, loss, loss / 1000, 3, 40, RECODING, **more)  # type: ignore[arg-type]


def front(**more: object) -> FrontPicture:
    points = [point(1000, 900), point(1, 10), point(30, 200, knee=True, note="why"), point(5, 80, proven=False)]
    return FrontPicture(points, 1000, **more)  # type: ignore[arg-type]


def parsed(picture: FrontPicture, **more: object) -> ElementTree.Element:
    return ElementTree.fromstring(svg(picture, **more))  # type: ignore[arg-type]


def named(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(root.iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def marks(root: ElementTree.Element) -> list[ElementTree.Element]:
    return sorted((g for g in named(root, "g") if g.get("class") == "point"), key=lambda g: int(str(g.get("data-i"))))


def words(root: ElementTree.Element) -> list[str]:
    return [str(text.text) for text in named(root, "text")]


class TestScale:
    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([1, 30162], "log"),
            ([115382, 909746244], "log"),
            ([0, 76452, 271458], "linear"),
            ([2196, 7508], "linear"),
            ([0, 3, 1e6], "symlog"),
            ([-5, 1, 1e4], "symlog"),
            ([0.2, 0.9], "linear"),
            ([0.05, 0.9], "linear"),
            ([0.0001, 0.5], "log"),
            ([0, 0], "linear"),
            ([7], "linear"),
        ],
    )
    def test_kind(self, values: list[float], kind: str) -> None:
        assert Scale.over(values).kind == kind

    def test_zeros_in_the_cloud_do_not_break_a_log_scale(self) -> None:
        scale = Scale.over([10, 1e5], [0, 1e6])
        assert scale.kind == "symlog"
        assert np.isfinite(scale.at([0, 5, 1e6])).all()

    @settings(deadline=None)
    @given(
        st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=20),
        st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), max_size=20),
        st.booleans(),
        st.integers(1, 20),
    )
    def test_everything_has_a_place_in_order_and_ticks_are_apart(
        self, values: list[float], others: list[float], flipped: bool, most: int
    ) -> None:
        scale = Scale.over(values, others, flipped=flipped)
        places = scale.at(np.sort([*values, *others]))
        assert ((places >= -1e-9) & (places <= 1 + 1e-9)).all()
        assert (np.diff(places[::-1] if flipped else places) >= -1e-12).all()
        ticks = np.sort([tick.position for tick in scale.ticks(most)])
        assert ticks.size <= max(most, 2) + 2
        assert ((ticks >= -1e-9) & (ticks <= 1 + 1e-9)).all()

    def test_ticks_are_round_and_the_end_is_among_them(self) -> None:
        scale = Scale.over([1, 30162])
        texts = [tick.text for tick in scale.ticks(16, end=30162)]
        assert texts[:6] == ["1", "2", "5", "10", "20", "50"]
        assert texts[-2:] == ["10,000", "30,162"]
        losses = Scale.over([0, 271458]).ticks(6, short=True)
        assert [tick.text for tick in losses] == ["0", "50 K", "100 K", "150 K", "200 K", "250 K"]
        assert [tick.text for tick in Scale.over([0, 3, 1e6]).ticks(6, short=True)] == ["0", "100", "10 K", "1 M"]

    def test_less_to_the_right_where_less_is_better(self) -> None:
        assert Scale.over([0, 1], flipped=True).at(0) > Scale.over([0, 1], flipped=True).at(1)

    def test_numbers(self) -> None:
        assert [number_text(x) for x in (0, 1234.5, 1e-5, float("inf"), -0.5)] == [
            "0",
            "1,234",
            "0.00001",
            "any",
            "-0.5",
        ]
        assert [short_number(x) for x in (0, 9999, 10_000, 1.25e9, -2e6)] == ["0", "9,999", "10 K", "1.25 B", "-2 M"]
        assert [percent(x) for x in (0.5, 0.001, 12)] == ["50.0 %", "0.10 %", "1,200 %"]


class TestSvg:
    def test_points_are_where_they_belong(self) -> None:
        found = marks(parsed(front()))
        x, y = ([float(str(g.get(f"data-{axis}"))) for g in found] for axis in "xy")
        assert x == sorted(x)
        assert y == sorted(y, reverse=True)

    def test_privacy_grows_to_the_right_where_less_is_better(self) -> None:
        points = [point(0.1, 900), point(0.9, 0), point(0.5, 300)]
        root = parsed(FrontPicture(points, 10, "t(disease)", lower_is_better=True))
        found = marks(root)
        assert [next(iter(g)).text.split("\n")[0] for g in found] == ["t = 0.9", "t = 0.5", "t = 0.1"]
        assert float(str(found[0].get("data-x"))) < float(str(found[2].get("data-x")))

    def test_hover_texts_tell_all(self) -> None:
        text = next(iter(marks(parsed(front()))[1])).text
        assert text is not None
        for part in (
            "k = 5",
            "80, 8.0 %",
            "fewer than 5 rows",
            "40",
            "level 2 of 4: 8 values instead of 72",
            "a better",
        ):
            assert part in text

    def test_the_line_rises_first(self) -> None:
        root = parsed(front())
        line = next(
            path.get("d")
            for path in named(root, "path")
            if path.get("stroke-width") == "2" and "V" in str(path.get("d"))
        )
        x, y = ([str(g.get(f"data-{axis}")) for g in marks(root)] for axis in "xy")
        assert line == f"M{x[0]} {y[0]}V{y[1]}H{x[1]}V{y[2]}H{x[2]}V{y[3]}H{x[3]}"

    def test_unproven_is_hollow_and_the_knee_has_a_caption(self) -> None:
        root = parsed(front())
        looks = [list(g)[-1].get("fill") for g in marks(root)]
        assert looks == [LIGHT.front, LIGHT.paper, LIGHT.knee, LIGHT.front]
        assert "suggested: k = 30, loss 20.0 %" in words(root)
        assert "not proven yet" in words(root)
        plain_front = FrontPicture([point(1, 1), point(2, 2)], 10)
        assert not {"not proven yet", "suggested", "missed"} & set(words(parsed(plain_front)))

    def test_the_caption_of_a_knee_at_the_right_ends_within_the_plot(self) -> None:
        points = [point(1, 10), point(900, 700, knee=True), point(1000, 900)]
        root = parsed(FrontPicture(points, 1000), width=640)
        caption = next(text for text in named(root, "text") if str(text.text).startswith("suggested:"))
        ticks = [float(str(text.get("x"))) for text in named(root, "text") if re.fullmatch(r"\d+ %", str(text.text))]
        assert caption.get("text-anchor") == "end"  # whatever the font
        assert float(str(caption.get("x"))) < min(ticks)

    def test_dark(self) -> None:
        drawn = svg(front(), dark=True)
        assert DARK.paper in drawn
        assert LIGHT.front not in drawn

    def test_a_large_cloud_is_a_few_paths(self) -> None:
        rng = np.random.default_rng(1)
        cloud = np.stack([rng.integers(1, 1000, 100_000), rng.uniform(10, 900, 100_000)], axis=1).astype(float)
        drawn = svg(front(cloud=cloud))
        assert len(drawn) < 250_000
        cells = [g for g in named(ElementTree.fromstring(drawn), "g") if g.get("class") == "cloud"]
        assert 1 <= len(list(cells[0])) <= 5
        assert any("100,000 recodings" in text for text in words(ElementTree.fromstring(drawn)))

    def test_every_node_of_the_cloud_is_drawn_once(self) -> None:
        cloud = np.array([[1, 500.0], [1, 500.0], [30, 900.0], [np.inf, 3.0]])
        cells = next(g for g in named(parsed(front(cloud=cloud)), "g") if g.get("class") == "cloud")
        assert sum(str(path.get("d")).count("M") for path in cells) == 2

    def test_missed_points_are_crosses(self) -> None:
        root = parsed(front(missed=np.array([[10.0, 100.0]])))
        assert "missed" in words(root)
        assert any("k = 10, loss 100: missed" in str(title.text) for title in named(root, "title"))

    def test_a_second_axis_gets_lines_of_its_own(self) -> None:
        points = [point(k, 10 * k + 50 * kinds, second=float(kinds)) for k in (2, 5, 9) for kinds in (1, 2, 3)]
        root = parsed(FrontPicture(points, 10, second_axis="distinct-l(disease)"))
        assert {"l ≥ 2", "l ≥ 3"} <= set(words(root))
        assert "k = 2, l = 1" in str(next(iter(marks(root)[0])).text)

    @pytest.mark.parametrize("size", [(900, 560), (380, 430), (200, 200)])
    @pytest.mark.parametrize("losses", [[5.0], [0.0, 0.0], [0.0, 3.0, 1e9], [1e-9, 1.0]])
    def test_any_numbers_in_any_size(self, losses: list[float], size: tuple[float, float]) -> None:
        points = [point(float(i), loss, knee=True) for i, loss in enumerate(losses)]
        drawn = svg(FrontPicture(points, 10, title="A long title that goes on and on and on"), *size)
        ElementTree.fromstring(drawn)
        assert "nan" not in drawn
        assert "inf" not in drawn.replace("information", "")

    def test_names_are_escaped(self) -> None:
        root = parsed(front(title=NASTY, subtitle=NASTY, cost=NASTY, axis=NASTY))
        assert not named(root, "script")
        ElementTree.fromstring(svg(front(title="]]>")))

    def test_nothing_to_draw(self) -> None:
        with pytest.raises(UsageError, match="without points"):
            FrontPicture([], 10)

    def test_words_for_attributes(self) -> None:
        age = CodedAttribute("age", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]), np.ones(4, dtype=np.int64))
        texts = [recoded_attributes([age], [level])[0].words for level in range(3)]
        assert texts == [
            "unchanged: 4 values",
            "level 1 of 2: 2 values instead of 4",
            "one value for all, instead of 4",
        ]


class TestPng:
    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(UsageError, match=r"pip install 'discreet\[plot\]'"):
            png(svg(front()))

    def test_without_a_font(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
        monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=lambda **_: b"blank"))
        with pytest.raises(UsageError, match="needs a font"):
            png(svg(front()))

    def test_size(self) -> None:
        pytest.importorskip("resvg_py", reason="needs the extra plot")
        drawn = png(svg(front(), 300, 200), scale=3)
        assert drawn[:8] == b"\x89PNG\r\n\x1a\n"
        assert (int.from_bytes(drawn[16:20]), int.from_bytes(drawn[20:24])) == (900, 600)


class Reader(HTMLParser):
    """All tags with their attributes, and the text in some of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.inside.setdefault(self.open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


class TestPage:
    STEPS = (("From k = 1 to k = 5", ["k rises"], ["age gets coarser", NASTY]),)

    def test_names_of_columns_break_after_their_separators(self) -> None:
        recoding = (RecodedAttribute("plus_children_on-board", 1, 9, 3, 3),)
        points = [PicturePoint(2, 5, 0.5, 3, 40, recoding), PicturePoint(9, 7, 0.7, 3, 40, recoding)]
        heads = re.findall(r'<th class="attribute"[^>]*>(.*?)</th>', page(FrontPicture(points, 10)))
        assert heads == ["plus_<wbr>children_<wbr>on-<wbr>board"]

    def test_is_well_formed_and_holds_everything(self) -> None:
        picture = front(title=NASTY, subtitle=NASTY)
        picture = replace(picture, points=[replace(p, python=f"x = {NASTY}", command=NASTY) for p in picture.points])
        read = Reader(page(picture, self.STEPS, notes=[NASTY]))
        assert not read.open
        assert len(read.all("script")) == 1
        cards = [a for a in read.all("article") if a["class"] == "card"]
        assert [a["data-value"] for a in cards] == ["1", "5", "30", "1000"]
        assert ["hidden" in a for a in cards] == [True, True, False, True]
        assert len(read.all("tr")) == 5
        assert len(read.all("details")) == 4
        assert "age gets coarser" in read.inside["li"]

    def test_asks_for_nothing_and_runs_nothing_else(self) -> None:
        text = page(front(), self.STEPS)
        read = Reader(text)
        assert re.findall(r"https?://[^\s\"'<]+", text) == re.findall(r"http://www\.w3\.org/2000/svg", text)
        for _, attributes in read.tags:
            assert not {name for name in attributes if name in ("src", "style", "srcset") or name.startswith("on")}
            assert attributes.get("href", "data:,") == "data:,"
        policy = str(next(a for a in read.all("meta") if "http-equiv" in a)["content"])
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        for kind in ("style", "script"):
            promised = re.search(rf"{kind}-src 'sha256-([^']+)'", policy)
            assert promised is not None
            assert b64decode(promised[1]) == sha256("".join(read.inside[kind]).encode()).digest()

    def test_starts_at_the_least_private_without_a_suggestion(self) -> None:
        read = Reader(page(FrontPicture([point(9, 50), point(2, 5)], 10)))
        cards = [a for a in read.all("article") if a["class"] == "card"]
        assert ["hidden" in a for a in cards] == [False, True]
        assert not read.all("ol")

    def test_attributes_without_levels(self) -> None:
        points = [replace(point(k, 10 * k), recoding=(RecodedAttribute("zip", 30 * k, 100),)) for k in (1, 3)]
        text = page(FrontPicture(points, 10))
        assert "how many values it keeps" in text
        assert "30 of 100 values" in text

    def test_two_axes_and_less_is_better(self) -> None:
        points = [point(0.5, 10, second=2.0), point(0.2, 90, second=3.0)]
        text = page(FrontPicture(points, 10, "t", lower_is_better=True, second_axis="distinct-l(x)"))
        assert "I need t of at most" in text
        assert "t = 0.5, l = 2" in text
        assert 'data-lower="true"' in text
        read = Reader(text)
        assert len(read.all("th")) == 1 + 1 + 4 + 3 + 2

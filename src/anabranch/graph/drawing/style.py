"""The colours and fonts of drawings and pages, for readers with light and with dark screens."""

from __future__ import annotations

_COLOURS = ("#2f6fde", "#12876a", "#b4690e", "#7a4fd0", "#c2405f", "#1583a0")  # legible on white and on black
HUES = len(_COLOURS)

FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"

_LIGHT = {"paper": "#ffffff", "box": "#ffffff", "ink": "#1c2430", "note": "#5c6878", "line": "#6b7787"}
_DARK = {"paper": "#12171f", "box": "#1b222d", "ink": "#e6ebf2", "note": "#9aa7b8", "line": "#8b98aa"}


def _palette(colours: dict[str, str]) -> str:
    return "\n".join(
        [
            f".ab-paper,.ab-base{{fill:{colours['paper']}}}",
            f".ab-box,.ab-joint{{fill:{colours['box']}}}",
            f".ab-graph text{{fill:{colours['ink']}}}",
            f".ab-graph .ab-note,.ab-graph .ab-type,.ab-graph .ab-pe-name{{fill:{colours['note']}}}",
            f".ab-stream,.ab-pe,.ab-alone .ab-box{{stroke:{colours['line']}}}",
            f".ab-tip{{fill:{colours['line']}}}",
            f".ab-alone .ab-icon,.ab-alone .ab-state,.ab-key .ab-state{{stroke:{colours['note']}}}",
            f".ab-alone .ab-stateful,.ab-key .ab-stateful{{fill:{colours['note']}}}",
            ".ab-graph .ab-badge-text{fill:#ffffff}",
        ]
    )


def _hues() -> str:
    lines = []
    for number, colour in enumerate(_COLOURS):
        hue = f".ab-hue{number}"
        lines.append(
            f"{hue} .ab-region,{hue} .ab-channel,{hue} .ab-box,{hue} .ab-joint,{hue} .ab-joint-sign,"
            f"{hue} .ab-icon,{hue} .ab-state{{stroke:{colour}}}"
        )
        lines.append(f"{hue} .ab-region,{hue} .ab-channel,{hue} .ab-badge,{hue} .ab-stateful{{fill:{colour}}}")
        lines.append(f".ab-graph {hue} .ab-region-name{{fill:{colour}}}")
    return "\n".join(lines)


STYLE = f"""
.ab-graph text{{font-family:{FONT};font-size:10.5px}}
.ab-graph .ab-title{{font-size:16px;font-weight:600}}
.ab-graph .ab-name{{font-size:13px}}
.ab-graph .ab-region-name{{font-size:13px;font-weight:700}}
.ab-graph .ab-badge-text{{font-weight:700}}
.ab-region{{fill-opacity:.1;stroke-opacity:.55}}
.ab-channel{{fill-opacity:.06;stroke-opacity:.35}}
.ab-box{{stroke-width:1.2}}
.ab-stream,.ab-touch,.ab-pe,.ab-icon,.ab-joint-sign,.ab-state{{fill:none}}
.ab-stream{{stroke-width:1.4}}
.ab-touch{{stroke:#000;stroke-opacity:0;stroke-width:10}}
.ab-feedback{{stroke-dasharray:6 4}}
.ab-pe{{stroke-dasharray:3 3;stroke-opacity:.8}}
.ab-icon,.ab-joint-sign{{stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}}
.ab-joint{{stroke-width:1.4}}
.ab-state{{stroke-width:1.1;stroke-linejoin:round}}
{_hues()}
{_palette(_LIGHT)}
@media (prefers-color-scheme:dark){{
{_palette(_DARK)}
}}
"""

# A drawing may be as wide as the window, and scrolls within it: its legend, and what it is scrolled by, stay in view.
PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:0;padding:24px;font:15px/1.5 system-ui,sans-serif;color:#1c2430;background:#f3f5f8}
figure{margin:0 0 24px;display:flex;flex-direction:column;max-height:max(420px,100vh - 48px)}
.drawing{overflow:auto;min-height:0}
.drawing svg,.key svg{display:block}
.key{flex:none}
.key svg{max-width:100%;height:auto}
h2{font-size:18px;margin:28px 0 8px}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%;background:#fff}
th,td{text-align:left;vertical-align:top;padding:7px 12px;border-bottom:1px solid #dde3ea}
th{font-weight:600;white-space:nowrap}
code,pre{font-family:"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:13px}
pre{margin:2px 0 6px;padding:4px 8px;white-space:pre-wrap;background:#eef1f5}
b{white-space:nowrap}
.name{font-weight:600}
.why{color:#5c6878;font-size:13.5px}
body>*{max-width:1600px;margin-inline:auto}
body>figure{width:fit-content;min-width:min(1600px,100%);max-width:100%}
@media print{figure{max-height:none}}
@media (prefers-color-scheme:dark){
body{color:#e6ebf2;background:#0b0f15}
table{background:#12171f}
th,td{border-color:#2a3441}
pre{background:#1b222d}
.why{color:#9aa7b8}
}
"""

//! The style sheet of SVG graphs, for light and dark mode.
//!
//! Colours are listed twice, because not every SVG renderer supports CSS variables.

/// The style sheet that is embedded in every graph.
pub(super) const STYLE: &str = "
  text { font-family: sans-serif; text-anchor: middle; }
  .name { font-size: 14px; font-weight: bold; }
  .small, .label { font-size: 11px; }
  .title { font-size: 13px; text-anchor: start; }
  .box, .inner { stroke-width: 1.25; }
  .inner, .way { fill: none; }
  .way { stroke-width: 1.5; }
  .exception .way, .closed .way { stroke-dasharray: 5 4; }
  .visited .box { stroke-width: 2; }
  .taken .way { stroke-width: 2.25; }
  .untouched { opacity: 0.55; }
  text { fill: #1f2328; }
  .ground, .plate { fill: #ffffff; }
  .box { fill: #f6f8fa; stroke: #8c959f; }
  .inner { stroke: #8c959f; }
  .small, .label, .title { fill: #59636e; }
  .way { stroke: #8c959f; }
  .tip, .dot { fill: #8c959f; }
  .visited .box, .visited .inner { stroke: #1a7f64; }
  .current .box { fill: #1a7f64; }
  .current .inner { stroke: #ffffff; }
  .current .name, .current .small { fill: #ffffff; }
  .taken .way { stroke: #1a7f64; }
  .taken .tip { fill: #1a7f64; }
  .closed .way { stroke: #cf222e; }
  .closed .tip, .label.why { fill: #cf222e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .ground, .plate { fill: #0d1117; }
    .box { fill: #161b22; stroke: #6e7681; }
    .inner { stroke: #6e7681; }
    .small, .label, .title { fill: #9198a1; }
    .way { stroke: #6e7681; }
    .tip, .dot { fill: #6e7681; }
    .visited .box, .visited .inner { stroke: #2ea88a; }
    .current .box { fill: #2ea88a; }
    .current .inner { stroke: #06110e; }
    .current .name, .current .small { fill: #06110e; }
    .taken .way { stroke: #2ea88a; }
    .taken .tip { fill: #2ea88a; }
    .closed .way { stroke: #f85149; }
    .closed .tip, .label.why { fill: #f85149; }
  }
";

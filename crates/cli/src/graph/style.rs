//! How a drawing looks, in light and in dark.

/// The style sheet of every drawing.
pub(super) const STYLE: &str = "
  svg { --ground: #ffffff; --box: #f6f8fa; --line: #8c959f; --text: #1f2328; --faint: #656d76; --good: #1a7f64; --bad: #cf222e; --on: #ffffff; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --box: #161b22; --line: #6e7681; --text: #e6edf3; --faint: #8d96a0; --good: #2ea88a; --bad: #f85149; --on: #06110e; }
  }
  text { font-family: sans-serif; fill: var(--text); text-anchor: middle; }
  .ground { fill: var(--ground); }
  .box { fill: var(--box); stroke: var(--line); stroke-width: 1.25; }
  .inner { fill: none; stroke: var(--line); stroke-width: 1.25; }
  .name { font-size: 14px; font-weight: 600; }
  .small { font-size: 11px; fill: var(--faint); }
  .way { fill: none; stroke: var(--line); stroke-width: 1.5; }
  .tip { fill: var(--line); }
  .label { font-size: 11px; fill: var(--faint); }
  .plate { fill: var(--ground); }
  .dot { fill: var(--line); }
  .title { font-size: 13px; fill: var(--faint); text-anchor: start; }
  .exception .way, .closed .way { stroke-dasharray: 5 4; }
  .visited .box, .visited .inner { stroke: var(--good); stroke-width: 2; }
  .current .box { fill: var(--good); stroke: var(--good); }
  .current .inner { stroke: var(--on); }
  .current .name, .current .small { fill: var(--on); }
  .taken .way { stroke: var(--good); stroke-width: 2.25; }
  .taken .tip { fill: var(--good); }
  .closed .way { stroke: var(--bad); }
  .closed .tip { fill: var(--bad); }
  .why { fill: var(--bad); }
  .untouched { opacity: 0.55; }
";

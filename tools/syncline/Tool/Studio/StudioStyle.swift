// The look of the page, in light and in dark.

enum StudioStyle {
    static let css = """
        :root { --page: #fbfbfa; --panel: #fff; --ink: #1d1f21; --soft: #5c6166; --line: #d9dbdd; --mark: #0b5cad;
          --marked: #e3eefa; --good: #1a6b2f; --goodback: #e2f3e6; --bad: #a3231f; --badback: #fbe7e5; --warn: #7a4b00; }
        @media (prefers-color-scheme: dark) { :root { --page: #16181a; --panel: #1e2124; --ink: #e6e8ea; --soft: #a0a6ac;
          --line: #363b40; --mark: #7ab8f5; --marked: #20364d; --good: #8fd6a2; --goodback: #17351f; --bad: #f2a19c;
          --badback: #43201f; --warn: #e9bf7a; } }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--page); color: var(--ink);
          font: 14px/1.45 system-ui, sans-serif; }
        header { display: flex; flex-wrap: wrap; gap: 0 1.5em; align-items: baseline; padding: .6em 1em;
          border-bottom: 1px solid var(--line); }
        h1 { font-size: 1.15em; margin: 0; } h2 { font-size: 1em; margin: 0 0 .4em; } h3 { font-size: 1em; margin: 1em 0 .3em; }
        header p { margin: 0; color: var(--soft); }
        .skip { position: absolute; left: -99em; } .skip:focus { left: 1em; top: .5em; background: var(--panel); }
        .timeline { padding: .5em 1em; border-bottom: 1px solid var(--line); }
        #density { height: 40px; } #density svg { display: block; width: 100%; height: 40px; }
        .scrub { display: flex; gap: .5em; align-items: center; } .scrub input { flex: 1; accent-color: var(--mark); }
        output { font-variant-numeric: tabular-nums; font-weight: 600; margin-left: .3em; }
        main { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(20em, 2fr) 3fr; gap: 1em; padding: 1em; }
        .events, .detail { min-height: 0; min-width: 0; display: flex; flex-direction: column; }
        #list, #panel { flex: 1; overflow: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
        #list { position: relative; } #panel { padding: .8em 1em; }
        #rows { position: sticky; top: 0; height: 0; overflow: visible; }
        .event { height: 26px; padding: 2px .6em; display: flex; gap: .8em; white-space: nowrap; overflow: hidden; cursor: pointer; }
        .event b { min-width: 5.5em; font-weight: 600; color: var(--mark); font-variant-numeric: tabular-nums; }
        .event span { min-width: 6em; color: var(--soft); } .event i { font-style: normal; overflow: hidden; text-overflow: ellipsis; }
        .event[aria-selected=true] { background: var(--marked); box-shadow: inset 3px 0 var(--mark); }
        [role=tablist] { display: flex; flex-wrap: wrap; gap: .2em; margin-bottom: .4em; }
        button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line); border-radius: 5px;
          padding: .25em .8em; cursor: pointer; }
        button[aria-selected=true] { border-color: var(--mark); color: var(--mark); font-weight: 600; }
        :focus-visible { outline: 2px solid var(--mark); outline-offset: 1px; }
        table { border-collapse: collapse; width: 100%; margin: .3em 0; } caption { text-align: left; color: var(--soft); }
        th, td { text-align: left; padding: .25em .6em .25em 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        td { overflow-wrap: anywhere; } th, td .link { white-space: nowrap; }
        th { color: var(--soft); font-weight: 600; }
        code, pre { font: 12.5px/1.45 ui-monospace, monospace; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3em 0; }
        ins { background: var(--goodback); color: var(--good); text-decoration: none; padding: 0 .2em; }
        del { background: var(--badback); color: var(--bad); padding: 0 .2em; }
        .note { color: var(--soft); } .problem { color: var(--bad); font-weight: 600; } .warning { color: var(--warn); }
        .link { border: 0; background: none; padding: 0; color: var(--mark); text-decoration: underline; }
        figure { margin: 0 0 1.2em; } figcaption { font-weight: 600; margin-bottom: .2em; }
        figure svg { width: 100%; height: 150px; background: var(--panel); }
        .axis { stroke: var(--line); } .label { fill: var(--soft); font: 11px system-ui, sans-serif; }
        .one { stroke: var(--mark); fill: none; stroke-width: 2; } .two { stroke: var(--good); fill: none; stroke-width: 2;
          stroke-dasharray: 5 3; } .bar { fill: var(--mark); } .back { fill: var(--line); }
        @media (max-width: 60em) { body { height: auto; } main { grid-template-columns: 1fr; }
          #list { min-height: 40vh; } #panel { min-height: 40vh; } }
        """
}

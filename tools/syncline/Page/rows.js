// Rows in a box that scrolls. Parts of them come as they are needed, and those that are far away go, so that a table of any
// length is as light as a part of it.

/// How many parts stay, and how near the end of one is when the next is asked for, in pixels.
const kept = 3, near = 600;
/// Where the box was last: in which list and part, and how far into it. When the list is drawn again it stays there.
let seen = {};

/// Fills the body of a table in a box, first with a part that was already found: where it begins, how many rows are before
/// it, and the rows. `fetch` asks for the part at a place, `earlier` knows the place of the part before one, `line` makes
/// the element of a row, `moved` is told which part is looked at, and `failed` what went wrong. `list` names the rows.
export function scrolling(box, first, { list, fetch, earlier, line, moved, failed }) {
  const body = box.querySelector('tbody'), parts = [];
  let isBusy = false, shown = null;

  function add(place, found, isBefore) {
    const part = { ...place, next: found.next, count: found.rows.length, lines: found.rows.map((row, index) => line(row, place.before + index + 1)) };
    const height = box.scrollHeight;
    if (isBefore) { body.prepend(...part.lines); parts.unshift(part); box.scrollTop += box.scrollHeight - height; }
    else { body.append(...part.lines); parts.push(part); }
    if (parts.length > kept) drop(!isBefore);
  }

  function drop(isFirst) {
    const part = isFirst ? parts.shift() : parts.pop(), height = box.scrollHeight;
    if (part.lines.some(line => line.contains(document.activeElement))) box.focus({ preventScroll: true });
    for (const line of part.lines) line.remove();
    if (isFirst) box.scrollTop -= height - box.scrollHeight;
  }

  /// The place of a part that is needed now, and whether it is before the others.
  function wanted() {
    const last = parts.at(-1);
    if (last.next && box.scrollHeight - box.scrollTop - box.clientHeight < near) return [{ after: last.next, before: last.before + last.count }, false];
    const place = box.scrollTop < near && earlier(parts[0]);
    return place ? [place, true] : null;
  }

  function look() {
    const top = box.scrollTop + box.querySelector('thead').offsetHeight;
    const part = parts.find(({ lines }) => { const end = lines.at(-1); return end && end.offsetTop + end.offsetHeight > top; }) || parts[0];
    if (part !== shown) moved(shown = part);
    seen = { list, after: part.after, offset: part.lines.length ? box.scrollTop - part.lines[0].offsetTop : 0 };
  }

  async function advance() {
    if (!box.isConnected) return;
    look();
    if (isBusy) return;
    isBusy = true;
    try {
      for (let next = wanted(); next && box.isConnected; next = wanted()) {
        const [place, isBefore] = next, found = await fetch(place);
        if (!box.isConnected) return;
        add(place, found, isBefore);
        look();
      }
    } catch (error) { failed(error); } finally { isBusy = false; }
  }

  add(first, first.found, false);
  const { offset } = seen.list === list && seen.after === first.after ? seen : { offset: 0 };
  // The box has no height before it is shown.
  requestAnimationFrame(async () => {
    const part = parts[0], there = () => part.lines[0].offsetTop + offset;
    if (offset > 0) {
      box.scrollTop = there();
      // It may be where the next part is.
      if (box.scrollTop < Math.floor(there())) { await advance(); box.scrollTop = there(); }
    }
    box.addEventListener('scroll', advance);
    advance();
  });
}

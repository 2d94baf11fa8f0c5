// What is wrong with the page as it is shown: text that is hard to read, boxes that are wider than the window, controls
// without a name, and more elements than a person can look at.
(() => {
  const found = [];
  const seen = element => element.offsetParent !== null || getComputedStyle(element).position === 'fixed';
  const name = element => element.tagName.toLowerCase() + (element.id ? '#' + element.id : '')
    + (typeof element.className === 'string' && element.className ? '.' + element.className.trim().split(/\s+/).join('.') : '');

  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const scrolls = element => element && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.getBoundingClientRect();
    if (seen(element) && box.width && box.right > innerWidth + 1 && !scrolls(element.parentElement)
      && !element.closest('.unseen, .skip, svg')) found.push(`${name(element)} ends at ${Math.round(box.right)}`);
  }
  for (const id of ['panel', 'list']) {
    const element = document.getElementById(id);
    if (seen(element) && element.scrollWidth > element.clientWidth + 1) found.push(`${id} is wider than its place`);
  }
  const panel = document.getElementById('panel');
  for (const element of panel.children) if (seen(element) && element.getBoundingClientRect().right > panel.getBoundingClientRect().right + 1)
    found.push(`${name(element)} is wider than the panel`);

  const count = document.querySelectorAll('*').length;
  if (count > 8000) found.push(`the page has ${count} elements`);
  if (document.querySelectorAll('.line').length > 130) found.push('the list has too many lines');

  for (const element of document.querySelectorAll('button, input, select, textarea, [role=listbox], [role=tabpanel], [role=slider], [role=group]')) {
    const labels = element.labels && [...element.labels].some(label => label.textContent.trim());
    if (seen(element) && !(element.textContent.trim() || element.getAttribute('aria-label') || element.getAttribute('aria-labelledby') || labels))
      found.push(`a screen reader has no name for ${name(element)}`);
  }

  const parse = text => { const parts = text.match(/[\d.]+/g).map(Number); return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 }; };
  const over = (top, bottom) => top.rgb.map((part, index) => part * top.alpha + bottom[index] * (1 - top.alpha));
  const ground = element => {
    if (!element) return [255, 255, 255];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return colour.alpha === 1 ? colour.rgb : over(colour, ground(element.parentElement));
  };
  const light = rgb => rgb.map(part => part / 255).map(part => part <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [.2126, .7152, .0722][index], 0);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !seen(element) || element.closest('.unseen, .skip, option, svg, :disabled, .later')) continue;
    const style = getComputedStyle(element), back = ground(element), front = over(parse(style.color), back);
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    const ratio = (high + .05) / (low + .05);
    if (ratio < 4.5 && !told.has(name(element))) {
      told.add(name(element));
      found.push(`${name(element)} has a contrast of ${ratio.toFixed(1)}: ${walker.currentNode.textContent.trim().slice(0, 30)}`);
    }
  }
  return found;
})()

// Which texts of the page stand out too little from what is behind them: WCAG 2, what is see-through counted in.
const [enough, enoughLarge] = arguments;
const parse = (text) => {
  const found = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
};
const over = (top, alpha, below) => top.map((value, place) => value * alpha + below[place] * (1 - alpha));
const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const light = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const ratio = (one, two) => {
  const [low, high] = [light(one), light(two)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const ancestors = (element) => {
  const found = [];
  for (let one = element; one; one = one.parentElement) found.push(one);
  return found.reverse();
};
const behind = (element) => {
  let colour = [255, 255, 255];
  for (const one of ancestors(element)) {
    const { rgb, alpha } = parse(getComputedStyle(one).backgroundColor);
    colour = over(rgb, alpha, colour);
  }
  if (element.tagName === "text" && element.parentElement.classList.contains("file")) {
    const box = element.parentElement.querySelector(":scope > rect");
    if (box) {
      const style = getComputedStyle(box);
      colour = over(parse(style.fill).rgb, Number(style.fillOpacity), colour);
    }
  }
  return colour;
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.getClientRects().length || element.closest("title, desc, script, option, .unseen, .skip")) continue;
  const style = getComputedStyle(element);
  if (style.visibility === "hidden") continue;
  const below = behind(element);
  const { rgb, alpha } = parse(element.tagName === "text" ? style.fill : style.color);
  const opacity = ancestors(element).reduce((product, one) => product * Number(getComputedStyle(one).opacity), alpha);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  const contrast = ratio(over(rgb, opacity, below), below);
  if (contrast < (isLarge ? enoughLarge : enough)) {
    const name = `${element.tagName.toLowerCase()}.${element.getAttribute("class") || ""}`;
    found.push(`${name} ${contrast.toFixed(2)} ${element.textContent.trim().slice(0, 40)}`);
  }
}
return [...new Map(found.map((text) => [text.split(" ")[0], text])).values()];

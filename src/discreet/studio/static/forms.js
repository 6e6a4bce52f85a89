// Parsing and writing of text forms such as `distinct-l(3, disease)`.

/** Split at commas outside brackets and quotes. */
function pieces(text) {
  const found = [];
  let [depth, quote, start] = [0, null, 0];
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index];
    if (quote) quote = letter === quote ? null : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if ("([{".includes(letter)) depth += 1;
    else if (")]}".includes(letter)) depth -= 1;
    else if (letter === "," && depth === 0) {
      found.push(text.slice(start, index));
      start = index + 1;
    }
  }
  const last = text.slice(start).trim();
  return [...found.map((piece) => piece.trim()), ...(last ? [last] : [])];
}

const bare = (piece) => (/^(["']).*\1$/.test(piece) ? piece.slice(1, -1) : piece);

/** Read `name(a, b, key=c)` into its name, plain arguments and options. */
export function readForm(text) {
  const bracket = text.indexOf("(");
  if (bracket < 0) return { name: text.trim(), plain: [], options: {} };
  const [plain, options] = [[], {}];
  for (const piece of pieces(text.slice(bracket + 1, text.lastIndexOf(")")))) {
    const named = /^([A-Za-z_][\w-]*)\s*=\s*(.*)$/s.exec(piece);
    if (named) options[named[1]] = bare(named[2]);
    else plain.push(bare(piece));
  }
  return { name: text.slice(0, bracket).trim(), plain, options };
}

/** Quote a word that would be parsed as something else. */
export const quoted = (word) => {
  const text = String(word);
  if (typeof word === "number") return text;
  const risky = /[,:()[\]{}="'%]|^\s|\s$|^$/.test(text) || Number.isFinite(Number(text)) || /^(true|false|none|null)$/i.test(text);
  return risky ? (text.includes('"') ? `'${text}'` : `"${text}"`) : text;
};

/** Write a form from its parts. */
export function writeForm(name, plain = [], options = {}) {
  const given = [...plain.map(quoted), ...Object.entries(options).map(([key, value]) => `${key}=${quoted(value)}`)];
  return given.length ? `${name}(${given.join(", ")})` : name;
}

/** The arguments of a form by the names of its parameters. */
export function argumentsOf(form, parameters) {
  const { plain, options } = readForm(form);
  return Object.fromEntries(parameters.map((parameter, index) => [parameter.name, options[parameter.name] ?? plain[index] ?? parameter.default]));
}

/** A form from arguments by name: leading ones are positional, later ones are named and omitted if default. */
export function formOf(name, parameters, given) {
  const plain = [];
  const options = {};
  let open = true;
  for (const parameter of parameters) {
    const value = given[parameter.name];
    const empty = value === undefined || value === null || value === "";
    if (open && !empty && !parameter.named) plain.push(value);
    else {
      open = false;
      if (!empty && value !== parameter.default) options[parameter.name] = value;
    }
  }
  return writeForm(name, plain, options);
}

interface JsonFault {
  /** Zero-based offset in UTF-16 units. */
  offset: number
  /** The JSON path of the value at fault, e.g. `$.receipts[3].logs`. */
  path: string
  what: string
  /** Whether the text is a valid prefix that ends too early. */
  cut: boolean
}

/** Finds the first fault in text that JSON.parse rejected. Not recursive: any depth is safe. */
export const findJsonFault = (text: string): JsonFault | undefined => {
  const path: (string | number)[] = []
  let at = 0

  const fault = (expected: string): JsonFault => {
    const cut = at >= text.length
    const found = cut ? 'the text ends' : `found ${JSON.stringify(text[at])}`
    return { offset: Math.min(at, text.length), path: renderPath(path), what: `expected ${expected}, ${found}`, cut }
  }
  const space = () => {
    while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++
  }
  const scan = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match !== null) at += match[0].length
    return match !== null
  }
  const string = (): JsonFault | undefined => {
    at++
    for (;;) {
      scan(PLAIN)
      const char = text[at]
      if (char === '"') {
        at++
        return undefined
      }
      if (char !== '\\') return fault('the rest of a string')
      if (!scan(ESCAPE)) {
        if (!PARTIAL_ESCAPE.test(text.slice(at))) return { ...fault('a valid escape sequence'), cut: false }
        at = text.length
        return fault('the rest of an escape sequence')
      }
    }
  }
  const scalar = (): JsonFault | undefined => {
    if (text[at] === '"') return string()
    const word = WORDS.find(it => text.startsWith(it, at))
    if (word !== undefined) {
      at += word.length
      return undefined
    }
    const partial = WORDS.find(it => at < text.length && it.startsWith(text.slice(at)))
    if (partial !== undefined) at = text.length
    else if (scan(NUMBER)) {
      if (!PARTIAL_NUMBER.test(text.slice(at, at + 3))) return undefined
      at = text.length
      return fault('the rest of a number')
    } else if (text[at] === '-' && at + 1 === text.length) at++
    return fault('a value')
  }

  for (;;) {
    space()
    const open = text[at]
    if (open === '{' || open === '[') {
      at++
      space()
      if (text[at] === (open === '{' ? '}' : ']')) at++
      else if (open === '[') {
        path.push(0)
        continue
      } else {
        const bad = key()
        if (bad !== undefined) return bad
        continue
      }
    } else {
      const bad = scalar()
      if (bad !== undefined) return bad
    }
    // A value has ended: closes its parents that end with it, up to the next value.
    for (;;) {
      space()
      const step = path.at(-1)
      if (step === undefined) return at < text.length ? fault('the end of the text') : undefined
      const inArray = typeof step === 'number'
      if (text[at] === ',') {
        at++
        path.pop()
        if (inArray) path.push(step + 1)
        else {
          space()
          const bad = key()
          if (bad !== undefined) return bad
        }
        break
      }
      if (text[at] !== (inArray ? ']' : '}')) return fault(inArray ? 'a comma or ]' : 'a comma or }')
      at++
      path.pop()
    }
  }

  function key(): JsonFault | undefined {
    if (text[at] !== '"') return fault('a property name in double quotes')
    const start = at
    const bad = string()
    if (bad !== undefined) return bad
    path.push(JSON.parse(text.slice(start, at)) as string)
    space()
    if (text[at] !== ':') return fault('a colon')
    at++
    return undefined
  }
}

const WORDS = ['true', 'false', 'null']
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const PLAIN = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
/** Tail of a number that is valid only if the text is truncated. */
const PARTIAL_NUMBER = /^(?:\.|[eE][+-]?)$/
const PARTIAL_ESCAPE = /^\\(?:u[0-9a-fA-F]{0,3})?$/

const renderPath = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number'
        ? `${text}[${step}]`
        : /^\w+$/.test(step)
          ? `${text}.${step}`
          : `${text}[${JSON.stringify(step)}]`,
    '$',
  )

import { type Declaration, declarationOf } from './declaration.ts'

/**
 * Reads `event Name(type indexed name, …)`, `function name(…) … returns (…)` or `error Name(…)` as libraries write them in
 * strings, with structs by name; yields nothing where the text is no such declaration. What a function returns is passed over.
 */
export function* readHuman(text: string, structs: ReadonlyMap<string, string>): Generator<Declaration> {
  const head = /^\s*(event|function|error)\s+([A-Za-z_$][\w$]*)\s*\(/.exec(text)
  if (head === null) return
  const inputs = readParams(text, head[0].length, structs, 0)
  if (inputs === undefined) return
  const rest = text.slice(inputs.end)
  if (/\banonymous\b/.test(rest)) return
  const returns = /^[\w\s]*\breturns\s*\(/.exec(rest)
  if (returns === null && !/^[\w\s;]*$/.test(rest)) return
  const found = declarationOf({ type: head[1], name: head[2], inputs: inputs.params })
  if (found !== undefined) yield found
}

interface Params {
  params: object[]
  /** The position behind the closing parenthesis. */
  end: number
}

function readParams(
  text: string,
  start: number,
  structs: ReadonlyMap<string, string>,
  depth: number,
): Params | undefined {
  const params: object[] = []
  let at = start
  if (depth > 8) return undefined
  const empty = /\s*\)/y
  empty.lastIndex = at
  if (empty.test(text)) return { params, end: empty.lastIndex }
  for (;;) {
    let components: object[] | undefined
    let base: string
    const open = /\s*(?:tuple\s*)?\(/y
    open.lastIndex = at
    if (open.test(text)) {
      const inner = readParams(text, open.lastIndex, structs, depth + 1)
      if (inner === undefined) return undefined
      components = inner.params
      base = 'tuple'
      at = inner.end
    } else {
      const word = /\s*([A-Za-z_$][\w$.]*)/y
      word.lastIndex = at
      const match = word.exec(text)
      if (match === null) return undefined
      base = match[1]!
      at = word.lastIndex
      const body = structs.get(base)
      if (body !== undefined) {
        components = readParams(`${body})`, 0, structs, depth + 1)?.params
        if (components === undefined) return undefined
        base = 'tuple'
      }
    }
    const tail = /((?:\[\d*\])*)((?:\s+(?:indexed|memory|calldata|payable)\b)*)\s*([A-Za-z_$][\w$]*)?\s*([,)])/y
    tail.lastIndex = at
    const match = tail.exec(text)
    if (match === null) return undefined
    params.push({
      name: match[3] ?? '',
      type: base + match[1]!,
      indexed: match[2]!.includes('indexed'),
      ...(components === undefined ? {} : { components }),
    })
    at = tail.lastIndex
    if (match[4] === ')') return { params, end: at }
  }
}

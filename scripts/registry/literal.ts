/**
 * Reads one object literal as JavaScript, TypeScript or JSON spells it: quoted or bare keys, any quotes, trailing commas,
 * comments, `as const`, `!0`. Anything that has to be evaluated (a name, a spread, a call) makes it give up.
 */
export function readLiteral(text: string, start: number): unknown {
  let at = start

  const fail = (): never => {
    throw new SyntaxError(`not a plain literal at ${at}`)
  }

  const skip = () => {
    const blank = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|as const\b)*/y
    blank.lastIndex = at
    blank.exec(text)
    at = blank.lastIndex
  }

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) return undefined
    at = pattern.lastIndex
    return match[0]
  }

  const value = (): unknown => {
    skip()
    const first = text[at]
    if (first === '{') return object()
    if (first === '[') return array()
    const quoted = take(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.)*`/y)
    if (quoted !== undefined) return quoted.slice(1, -1)
    const word = take(/!0|!1|-?\d[\w.]*|true\b|false\b|null\b|undefined\b|void 0/y)
    if (word === undefined) return fail()
    if (word === 'true' || word === '!0') return true
    if (word === 'false' || word === '!1') return false
    return /^-?\d/.test(word) ? Number(word) : null
  }

  const object = () => {
    const result: Record<string, unknown> = {}
    at++
    for (skip(); text[at] !== '}'; skip()) {
      const key = take(/"[^"\\\n]*"|'[^'\\\n]*'|[A-Za-z_$][\w$]*/y) ?? fail()
      skip()
      if (text[at++] !== ':') fail()
      result[key.replace(/^["']|["']$/g, '')] = value()
      skip()
      if (text[at] === ',' || text[at] === ';') at++
      else if (text[at] !== '}') fail()
    }
    at++
    return result
  }

  const array = () => {
    const result: unknown[] = []
    at++
    for (skip(); text[at] !== ']'; skip()) {
      result.push(value())
      skip()
      if (text[at] === ',') at++
      else if (text[at] !== ']') fail()
    }
    at++
    return result
  }

  return value()
}

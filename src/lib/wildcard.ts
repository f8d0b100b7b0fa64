/**
 * What tells whether a name fits a pattern in which `*` stands for any characters. Without a regular expression: one that a client wrote could
 * take for ever.
 */
export const compileGlob = (pattern: string): ((name: string) => boolean) => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name => name === pattern
  const least = first.length + last.length
  return name => {
    if (name.length < least || !name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    const end = name.length - last.length
    for (const part of rest) {
      const found = name.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

export const matchesGlob = (name: string, pattern: string): boolean => compileGlob(pattern)(name)

/** Whether a name matches any pattern. Patterns without `*` cost nothing, however many there are. */
export const compileGlobs = (patterns: Iterable<string>): ((name: string) => boolean) => {
  const names = new Set(patterns)
  const tests = [...names].filter(name => name.includes('*')).map(compileGlob)
  return name => names.has(name) || tests.some(fits => fits(name))
}

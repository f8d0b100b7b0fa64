/**
 * Whether a name fits a pattern in which `*` stands for any characters. Without a regular expression: one that a client wrote could take
 * for ever.
 */
export const fits = (name: string, pattern: string): boolean => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  const end = name.length - last.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Names of functions by selector, from the text of `data/functions.txt`: one `0x12345678 name(type arg, …)` a line. */
export const parseMethods = (text: string): Map<string, string> => {
  const names = new Map<string, string>()
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('\n', start)
    if (end < 0) end = text.length
    if (text.startsWith('0x', start)) {
      const selector = text.slice(start, start + 10)
      if (!names.has(selector)) names.set(selector, text.slice(start + 11, text.indexOf('(', start)))
    }
    start = end + 1
  }
  return names
}

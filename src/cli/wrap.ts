/** Breaks a text into lines of at most `width` characters, each behind `indent`; the first one goes on behind `lead`. */
export const wrapped = (
  text: string,
  { width, indent, lead }: { width: number; indent: number; lead: string },
): string => {
  const lines: string[] = []
  let line = lead
  let begun = false
  for (const word of text.split(' ')) {
    if (begun && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ' '.repeat(indent) + word
    } else line += begun ? ` ${word}` : word
    begun = true
  }
  return [...lines, line].join('\n')
}

/** Narrower, nothing can be read. */
const NARROWEST = 40

/** The width of a terminal; elsewhere lines are not broken, for whoever searches in them. */
export const widthOf = ({ isTTY, columns }: { isTTY?: boolean; columns?: number }): number =>
  isTTY && columns ? Math.max(NARROWEST, columns) : Number.POSITIVE_INFINITY

/** Two columns; where the left one would leave the right one too little room, the right one stands below. */
export const columns = (rows: readonly (readonly [string, string])[], width: number): string[] => {
  const left = Math.max(...rows.map(([it]) => it.length))
  const indent = left + 4
  const isBelow = indent > width / 2
  return rows.map(([name, text]) =>
    isBelow
      ? `  ${name}\n${wrapped(text, { width, indent: 6, lead: ' '.repeat(6) })}`
      : wrapped(text, { width, indent, lead: `  ${name.padEnd(left)}  ` }),
  )
}

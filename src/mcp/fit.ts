/** Answers below what a client passes on to its model. */
export const MAX_TOKENS = 8_000
/** For the text beside the data, and what the protocol adds. */
const RESERVED = 400

/** At least as many tokens as any common model counts: hex takes more of them than words do. */
export const countTokens = (text: string): number => {
  let hex = 0
  for (const [run] of text.matchAll(/[0-9a-f]{8,}/gi)) hex += run.length
  return Math.ceil(hex / HEX_PER_TOKEN + (Buffer.byteLength(text) - hex) / BYTES_PER_TOKEN)
}
const HEX_PER_TOKEN = 1.6
const BYTES_PER_TOKEN = 3

const fitsAnswer = (value: unknown): boolean => countTokens(JSON.stringify(value)) <= MAX_TOKENS - RESERVED

/** As many of the rows as fit, at least one. */
export const fittingRows = <T>(rows: readonly T[], around: (rows: readonly T[]) => unknown): readonly T[] => {
  let [least, most] = [Math.min(1, rows.length), rows.length]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fitsAnswer(around(rows.slice(0, middle)))) least = middle
    else most = middle - 1
  }
  return rows.slice(0, least)
}

/** Halves the longest list or text until the answer fitsAnswer; says so, and how to get the rest. */
export const fitAnswer = (answer: Record<string, unknown>, rest: string): Record<string, unknown> => {
  if (fitsAnswer(answer)) return answer
  const cut = { ...(structuredClone(answer) as Record<string, unknown>), truncated: true, next: rest }
  while (!fitsAnswer(cut)) if (!halveLongest(cut)) return { truncated: true, next: rest }
  return cut
}

const halveLongest = (root: object): boolean => {
  let best: { size: number; halve(): void } | undefined
  const visit = (value: unknown, replace: (by: unknown) => void) => {
    if (typeof value === 'string' && value.length > 200)
      offer(value.length, () => replace(`${value.slice(0, value.length >> 1)}…`))
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value) && value.length > 0)
      offer(JSON.stringify(value).length, () => replace(value.slice(0, value.length >> 1)))
    else if (Object.keys(value).length > 20)
      offer(JSON.stringify(value).length, () => {
        for (const key of Object.keys(value).slice(Object.keys(value).length >> 1)) delete (value as never)[key]
      })
    for (const [key, one] of Object.entries(value)) visit(one, by => Object.assign(value, { [key]: by }))
  }
  const offer = (size: number, halve: () => void) => {
    if (best === undefined || size > best.size) best = { size, halve }
  }
  for (const [key, value] of Object.entries(root))
    if (key !== 'next') visit(value, by => Object.assign(root, { [key]: by }))
  best?.halve()
  return best !== undefined
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Answer, Ask } from './ask.ts'

/** A request, and what was answered to it when the fixture was written. */
export interface Line {
  name: string
  ask: Ask
  answer: Answer
}

const fileOf = (content: string) => new URL(`${content}.ndjson.br`, import.meta.url)

export const readFixture = (content: string): Line[] => {
  if (!existsSync(fileOf(content))) return []
  const text = brotliDecompressSync(readFileSync(fileOf(content))).toString()
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
}

/** Brotli looks far enough back to keep a document that stands in many answers once; gzip does not. */
export const writeFixture = (content: string, lines: readonly Line[]) => {
  const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT, BROTLI_MAX_WINDOW_BITS } = constants
  const params = {
    [BROTLI_PARAM_QUALITY]: 11,
    [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS,
    [BROTLI_PARAM_SIZE_HINT]: text.length,
  }
  writeFileSync(fileOf(content), brotliCompressSync(text, { params }))
}

/** Tells the first differences of a content's answers by name and by the place where they begin, and how many there are. */
export const differences = (lines: readonly Line[], answerTo: (ask: Ask) => Answer): string[] => {
  const found: string[] = []
  let count = 0
  for (const { name, ask, answer } of lines) {
    const now = answered(ask, answerTo)
    if (now.status === answer.status && now.text === answer.text) continue
    if (++count <= MAX_SHOWN) found.push(`${name}\n  ${JSON.stringify(ask)}\n${show(answer, now)}`)
  }
  return count === 0 ? [] : [...found, `${count} of ${lines.length} answers differ`]
}

/** A bug in one answer is one difference. */
const answered = (ask: Ask, answerTo: (ask: Ask) => Answer): Answer => {
  try {
    return answerTo(ask)
  } catch (error) {
    return { status: 500, text: String((error as Error).stack) }
  }
}

const MAX_SHOWN = 5
const BEFORE = 80
const BEHIND = 240

const show = (was: Answer, now: Answer): string => {
  let at = 0
  while (at < was.text.length && was.text[at] === now.text[at]) at++
  const part = ({ status, text }: Answer) =>
    `${status}, from ${at}: ${text.slice(Math.max(0, at - BEFORE), at + BEHIND)}`
  return `  was ${part(was)}\n  is  ${part(now)}`
}

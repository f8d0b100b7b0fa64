import { type Query, type Request, term } from './queries.ts'

/** Requests of which no two are the same to the letter, though they mean the same: a server would answer them from the answers that it keeps. */
const WHITE = Buffer.from(' \t\n\r')
const ROOM = 12

export const roomy = ({ body = '{}', ...request }: Request): Request => ({
  ...request,
  body: body + ' '.repeat(ROOM),
})

let sent = 0

export const anew = (request: Buffer): Buffer => {
  const bytes = Buffer.from(request)
  let rest = ++sent
  for (let i = 1; i <= ROOM; i++) {
    bytes[bytes.length - i] = WHITE[rest & 3]!
    rest >>>= 2
  }
  return bytes
}

/** Stands in a request for a number that is another one each time, of as many digits. */
const ANOTHER = 800_000_000_000
const DIGITS = Buffer.from(`${ANOTHER}`)

/** The bytes of a request with another number in each place where it is to stand: what is asked differs, not how it is written. */
export const renumbered = (request: Buffer): Buffer => {
  const bytes = Buffer.from(request)
  const number = `${ANOTHER + ++sent}`
  let at = bytes.indexOf(DIGITS)
  if (at < 0) throw new Error(`${request} has no place for another number`)
  for (; at >= 0; at = bytes.indexOf(DIGITS, at + 1)) bytes.write(number, at, 'latin1')
  return bytes
}

/** What of a request is another thing each time that it is sent. */
export const VARYING = { nothing: (request: Buffer) => request, space: anew, number: renumbered }
export type Varying = keyof typeof VARYING

/** The same question but for a block that there is not, of another number each time: neither side has answered it before. */
export const differing = ({ body = '{}', ...request }: Request): Request => {
  const { query, ...rest } = JSON.parse(body) as { query?: object }
  const fields = new Set(request.entities.split(',').map(kind => (kind === 'block' ? 'number' : 'blockNumber')))
  const without = [...fields].map(field => term(`${field}.num`, ANOTHER))
  const bool = { must_not: without, ...(query && { must: [query] }) }
  return { ...request, body: JSON.stringify({ ...rest, query: { bool } }) }
}

export const differingQuestion = ({ requests, ...question }: Pick<Query, 'name' | 'requests'>) => ({
  ...question,
  requests: requests.map(differing),
})

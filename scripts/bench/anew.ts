import type { Request } from './queries.ts'

/** Requests of which no two are the same to the letter, though they mean the same: a server would answer them from the answers that it keeps. */

/** White space in JSON. */
const WHITE = Buffer.from(' \t\n\r')
/** Letters behind a body, each one of four. */
const ROOM = 12

/** Leaves room for what makes each one another. */
export const roomy = ({ body = '{}', ...request }: Request): Request => ({
  ...request,
  body: body + ' '.repeat(ROOM),
})

let sent = 0

/** The bytes of a request with room, another one each time. */
export const anew = (request: Buffer): Buffer => {
  const bytes = Buffer.from(request)
  let rest = ++sent
  for (let i = 1; i <= ROOM; i++) {
    bytes[bytes.length - i] = WHITE[rest & 3]!
    rest >>>= 2
  }
  return bytes
}

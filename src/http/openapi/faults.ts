import type { Response } from './index.ts'
import { JSON_BODY, type Operation } from './operations.ts'
import { ref, type Schema, text, whole } from './schema.ts'

/** Errors that operations have in common, by the names of their components. */
const FAULTS = {
  Error: 'Any other error.',
  Unreadable: 'The request is not valid. The reason names the place, what is supported, and the remedy.',
  Unauthorized: 'The token is missing, unknown, expired or revoked.',
  Forbidden: 'The token lacks the scope that this needs.',
  Absent: 'There is no such network, index, document or rule.',
  TooLate: 'The search took longer than its deadline.',
  Changed: 'The rule has another revision than `If-Match` names.',
  TooLarge: 'The body, or what is asked for, is larger than its limit.',
  Encoded: 'The body has a type or an encoding that is not supported.',
  TooMany: 'The token, its account or the server has had enough requests for now.',
} as const

type Fault = keyof typeof FAULTS

const HEADERS: Partial<Record<Fault, readonly string[]>> = {
  Unauthorized: ['WWW-Authenticate'],
  TooMany: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
}

export const errorHeaders = (): Record<string, Schema> => ({
  'WWW-Authenticate': { description: 'How to send a token.', schema: text },
  'Retry-After': { description: 'Seconds to wait.', schema: whole },
  RateLimit: { description: 'What is left of each limit, and for how many seconds.', schema: text },
  'RateLimit-Policy': { description: 'The limits of the token and of its account, where there are any.', schema: text },
})

export const errorResponses = (): Record<string, Response> =>
  Object.fromEntries(
    (Object.keys(FAULTS) as Fault[]).map(name => [
      name,
      {
        description: FAULTS[name],
        ...(HEADERS[name] && {
          headers: Object.fromEntries(
            HEADERS[name].map(header => [header, { $ref: `#/components/headers/${header}` }]),
          ),
        }),
        content: { [JSON_BODY]: { schema: ref('Error') } },
      },
    ]),
  )

/** By status, the errors that an operation may answer beside its own answers. */
export const errorsOf = ({ path, query, headers, body, open }: Operation): Record<number, { $ref: string }> => {
  const isSearch = path.includes('/es')
  const isRule = path.startsWith('/alerting')
  const takes = isSearch || isRule || (query ?? []).some(name => name !== 'access_token')
  const faults: [status: number, fault: Fault, may: boolean][] = [
    [400, 'Unreadable', takes],
    [401, 'Unauthorized', !open],
    [403, 'Forbidden', isSearch || isRule || path === '/metrics'],
    [404, 'Absent', isSearch || path.includes('{id}')],
    [408, 'TooLate', isSearch],
    [412, 'Changed', headers?.includes('If-Match') === true],
    [413, 'TooLarge', body !== undefined],
    [415, 'Encoded', body !== undefined],
    [429, 'TooMany', !open],
  ]
  return Object.fromEntries(
    faults.flatMap(([status, fault, may]) => (may ? [[status, { $ref: `#/components/responses/${fault}` }]] : [])),
  )
}

import { ANOTHER } from '../anew.ts'
import type { Question } from '../beside/ten.ts'
import { term } from '../clauses.ts'
import type { Request } from '../queries.ts'

/** The same question but for a block that there is not, of another number each time: neither side has answered it before. */
export const differing = ({ body = '{}', ...request }: Request): Request => {
  const { query, ...rest } = JSON.parse(body) as { query?: object }
  const fields = new Set(request.entities.split(',').map(kind => (kind === 'block' ? 'number' : 'blockNumber')))
  const without = [...fields].map(field => term(`${field}.num`, ANOTHER))
  const bool = { must_not: without, ...(query && { must: [query] }) }
  return { ...request, body: JSON.stringify({ ...rest, query: { bool } }) }
}

export const differingQuestion = ({ requests, ...question }: Question): Question => ({
  ...question,
  requests: requests.map(differing),
})

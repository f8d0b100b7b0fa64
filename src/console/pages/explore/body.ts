/** The bodies that Explore sends, put together as text, so that a query passes as it was typed. */
export interface Asked {
  query: string | undefined
  /** In milliseconds since 1970. */
  from?: number | undefined
  to?: number | undefined
  sort?: Sort | undefined
  /** What the columns show beside what rows always have. */
  shown?: readonly string[]
}

/** `field` is a path that can be sorted by. */
export interface Sort {
  field: string
  order: 'asc' | 'desc'
}

export const PAGE = 100

/** The order of the chain, which distinguishes documents of several kinds, too. */
export const PLACE = '_shard_doc'

/** The first page, with the counts over time. */
export const firstBody = (asked: Asked): string => body(asked, [`"aggs":${COUNTS}`])

export const nextBody = (asked: Asked, after: string): string => body(asked, [`"search_after":${after}`])

/** What is new since a token, or from now on. */
export const resumeBody = (asked: Asked, token: string): string =>
  objectOf([
    `"resume":${JSON.stringify(token)}`,
    `"size":${NEW}`,
    `"_source":${sourceOf(asked)}`,
    `"query":${queryOf(asked)}`,
  ])

/** So many new hits are taken at once. */
export const NEW = 200

/** All hits with all of their fields, or those that columns show. */
export const allBody = (asked: Asked, fields: readonly string[] | undefined): string =>
  objectOf([
    '"size":-1',
    ...(asked.sort ? [`"sort":${sortOf(asked)}`] : []),
    ...(fields ? [`"_source":${JSON.stringify(fields)}`] : []),
    `"query":${queryOf(asked)}`,
  ])

/** What a program would ask for the same. */
export const plainBody = (asked: Asked): string =>
  objectOf([`"size":${PAGE}`, `"sort":${sortOf(asked)}`, `"query":${queryOf(asked)}`])

const body = (asked: Asked, more: readonly string[]): string =>
  objectOf([
    `"size":${PAGE}`,
    `"sort":${sortOf(asked)}`,
    `"_source":${sourceOf(asked)}`,
    `"query":${queryOf(asked)}`,
    ...more,
  ])

const objectOf = (members: readonly string[]): string => `{${members.join()}}`

const sortOf = ({ sort }: Asked): string =>
  JSON.stringify([
    ...(sort && sort.field !== PLACE ? [{ [sort.field]: { order: sort.order, missing: '_last' } }] : []),
    { [PLACE]: sort?.field === PLACE ? sort.order : 'desc' },
  ])

export const queryOf = ({ query, from, to }: Asked): string => {
  const own = query ?? '{"match_all":{}}'
  if (from === undefined && to === undefined) return own
  const range = JSON.stringify({ range: { timestamp: { gte: from, lt: to, format: 'epoch_millis' } } })
  return `{"bool":{"must":[${own}],"filter":[${range}]}}`
}

const COUNTS = '{"counts":{"auto_date_histogram":{"field":"timestamp","buckets":80}}}'

const sourceOf = ({ shown = [] }: Asked): string => JSON.stringify([...SHOWN, ...shown])

/** What rows show; a hit that is opened is asked for as a whole. */
const SHOWN = [
  ...['timestamp', 'number', 'blockNumber', 'firstSeen', 'hash', 'transactionHash', 'address', 'from', 'to'],
  ...['action.from', 'action.to', 'action.author', 'creator', 'str', 'method', 'event', 'name', 'symbol', 'standard'],
  ...['value', 'action.value', 'status', 'error', 'reverted', 'type', 'gasUsed', 'miner', 'signature', 'transactions'],
  'args',
]

/** The bodies that Explore sends, put together as text, so that a query passes as it was typed. */
export interface Asked {
  query: string | undefined
  /** In milliseconds since 1970. */
  from?: number | undefined
  to?: number | undefined
}

export const PAGE = 100

/** The first page, with the counts over time. */
export const firstBody = (asked: Asked): string => body(asked, [`"aggs":${COUNTS}`])

export const nextBody = (asked: Asked, after: string): string => body(asked, [`"search_after":${after}`])

const body = (asked: Asked, more: readonly string[]): string =>
  `{${[`"size":${PAGE}`, '"sort":[{"_shard_doc":"desc"}]', `"_source":${SHOWN}`, `"query":${queryOf(asked)}`, ...more].join()}}`

export const queryOf = ({ query, from, to }: Asked): string => {
  const own = query ?? '{"match_all":{}}'
  if (from === undefined && to === undefined) return own
  const range = JSON.stringify({ range: { timestamp: { gte: from, lt: to, format: 'epoch_millis' } } })
  return `{"bool":{"must":[${own}],"filter":[${range}]}}`
}

const COUNTS = '{"counts":{"auto_date_histogram":{"field":"timestamp","buckets":80}}}'

/** What rows show; a hit that is opened is asked for as a whole. */
const SHOWN = JSON.stringify([
  ...['timestamp', 'number', 'blockNumber', 'firstSeen', 'hash', 'transactionHash', 'address', 'from', 'to'],
  ...['action.from', 'action.to', 'action.author', 'creator', 'str', 'method', 'event', 'name', 'symbol', 'standard'],
  ...['value', 'action.value', 'status', 'error', 'reverted', 'type', 'gasUsed', 'miner', 'signature', 'transactions'],
])

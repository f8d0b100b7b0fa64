import { readFileSync } from 'node:fs'

type Asked = readonly [name: string, kinds: string, aggs: object]

/** Aggregations that are added up over several stores, one in each line: each kind of them, on values of each kind. */
export const AGGREGATIONS: readonly Asked[] = readFileSync(new URL('several.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as Asked)

import { type ChainsieveError, stop } from '../../lib/errors.ts'
import type { ClusterAnswer } from '../connection/cluster.ts'
import { reasonIn } from '../connection/expect-ok.ts'

/** What became of a request's documents, by their places in it. */
export interface Verdict {
  /** Not taken now: they are sent again. */
  again: number[]
  /** Why; undefined where all were taken. */
  why?: string
  /** The request is larger than the cluster takes. */
  tooLarge?: true
  /** What no repetition mends. */
  fault?: unknown
}

/** All that is needed of an answer. */
export const FILTER_PATH =
  'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason'

interface BulkItem {
  status: number
  error?: { type?: string; reason?: string; caused_by?: { reason?: string } }
}

/** `names`: of the documents, for errors. */
export const readBulkAnswer = (
  { status, text }: ClusterAnswer,
  count: number,
  name: (at: number) => string,
): Verdict => {
  if (status === 413) return { again: all(count), why: 'it takes no requests of this size', tooLarge: true }
  if (status !== 200) return refusedItem(status, text, count)
  // Most are so: there is no need to look at each.
  if (text.startsWith('{"errors":false,') && countItems('"status":', text) === count) return { again: [] }
  const items = itemsOf(text)
  if (items?.length !== count)
    return { again: all(count), why: `its answer has ${items?.length ?? 'no'} items for ${count} documents` }
  const again: number[] = []
  let why: string | undefined
  for (const [at, item] of items.entries()) {
    if (isTaken(item)) continue
    if (!mayBeTaken(item)) return { again: [], fault: itemFault(item, name(at)) }
    again.push(at)
    why ??= whyNot(item)
  }
  return { again, ...(why !== undefined && { why }) }
}

const countItems = (part: string, text: string): number => {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

const all = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

const refusedItem = (status: number, text: string, count: number): Verdict => {
  const why = `it answers ${status}: ${reasonIn(text)}`
  // Who has the rights is changed in the cluster, while the program runs.
  if (status >= 500 || MAY_PASS.has(status)) return { again: all(count), why }
  return { again: [], fault: stop('cluster_refuses', `the cluster refuses a bulk request: ${why}`) }
}

/** Unauthorised, forbidden (a block of an index, too), time out, too many requests. */
const MAY_PASS: ReadonlySet<number> = new Set([401, 403, 408, 429])

const itemsOf = (text: string): BulkItem[] | undefined => {
  let items: unknown
  try {
    items = (JSON.parse(text) as { items?: unknown } | null)?.items
  } catch {
    return undefined
  }
  if (!Array.isArray(items)) return undefined
  return items.map(item => Object.values((item ?? {}) as Record<string, BulkItem>)[0] ?? { status: 503 })
}

/** A newer batch was there before: that is how the document is to stay. */
const isTaken = ({ status, error }: BulkItem): boolean =>
  status === 200 || status === 201 || (status === 409 && error?.type === 'version_conflict_engine_exception')

/** An index that is missing is one that somebody removed, in a cluster that creates none by itself. */
const mayBeTaken = ({ status }: BulkItem): boolean =>
  status >= 500 || status === 404 || MAY_PASS.has(status) || !Number.isInteger(status)

const itemFault = (item: BulkItem, name: string): ChainsieveError =>
  stop('cluster_refuses_document', `the cluster refuses ${name} (${item.status}): ${reasonOf(item)}`)

const whyNot = (item: BulkItem): string =>
  item.status === 404
    ? `it has lost an index, which is created again at the next start (${reasonOf(item)})`
    : `it refuses documents for now (${item.status} ${reasonOf(item)})`

const reasonOf = ({ error }: BulkItem): string =>
  [error?.type, error?.reason, error?.caused_by?.reason]
    .filter(text => text !== undefined)
    .join(': ')
    .slice(0, 500)

import { type ChainsieveError, stop } from '../../lib/errors.ts'
import type { ClusterAnswer } from '../connection/cluster.ts'
import { reasonIn } from '../connection/expect-ok.ts'

/** Result of a bulk request; documents by position. */
export interface Verdict {
  /** Rejected for now: to be sent again. */
  again: number[]
  /** Reason of the rejection; undefined if all were taken. */
  why?: string
  /** Whether the request exceeds the cluster's size limit. */
  tooLarge?: true
  /** Permanent error. */
  fault?: unknown
}

/** Fields needed from an answer. */
export const FILTER_PATH =
  'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason'

interface BulkItem {
  status: number
  error?: { type?: string; reason?: string; caused_by?: { reason?: string } }
}

/** `names`: ids of the documents, for errors. */
export const readBulkAnswer = (
  { status, text }: ClusterAnswer,
  count: number,
  name: (at: number) => string,
): Verdict => {
  if (status === 413) return { again: all(count), why: 'it takes no requests of this size', tooLarge: true }
  if (status !== 200) return refusedItem(status, text, count)
  // Fast path: most answers have no errors.
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
  // Permissions may be fixed in the cluster while the program runs.
  if (status >= 500 || MAY_PASS.has(status)) return { again: all(count), why }
  return { again: [], fault: stop('cluster_refuses', `the cluster refuses a bulk request: ${why}`) }
}

/** Unauthorised, forbidden (also by an index block), timeout, too many requests. */
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

/** A conflict means that a newer batch already wrote the document. */
const isTaken = ({ status, error }: BulkItem): boolean =>
  status === 200 || status === 201 || (status === 409 && error?.type === 'version_conflict_engine_exception')

/** 404: an index was deleted, in a cluster that does not create indices automatically. */
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

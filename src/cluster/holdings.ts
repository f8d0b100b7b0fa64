import { byKind, KINDS, type Kind } from '../mapping/index.ts'
import { ALL } from '../query/ast.ts'
import type { Asker, AskOptions } from './asker.ts'
import type { Visible } from './visible.ts'

/** How many documents of each kind there are, and the bytes that they take on all nodes. */
export const holdingsInCluster = async (
  asker: Asker,
  options: AskOptions,
  visible: Visible,
): Promise<{ counts: Record<Kind, number>; bytes: number }> => {
  const countOf = async (kind: Kind) => {
    const request = { parts: [{ kind, query: ALL }], sort: [], from: 0, size: 0, source: false, trackTotal: true }
    return (await asker.page(request, options, visible)).total
  }
  const bytesOf = async () => {
    const path = `/${asker.target(KINDS)}/_stats/store`
    const text = await asker.send({ method: 'GET', path, query: { level: 'cluster' } }, options)
    const { _all } = JSON.parse(text) as { _all: { total: { store?: { size_in_bytes: number } } } }
    return _all.total.store?.size_in_bytes ?? 0
  }
  const [bytes, ...counts] = await Promise.all([bytesOf(), ...KINDS.map(countOf)])
  return { counts: byKind(KINDS, kind => counts[KINDS.indexOf(kind)]!), bytes }
}

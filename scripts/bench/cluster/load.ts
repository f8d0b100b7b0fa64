import { FILTER_PATH, readBulkAnswer } from '../../../src/cluster/bulk/answer.ts'
import { baseOf } from '../../../src/cluster/names.ts'
import { bodiesIn } from '../beside/documents.ts'
import type { LoadWay } from '../beside/opensearch.ts'
import type { Ready } from './ready.ts'
import type { Target } from './target.ts'

/** A loader that does nothing but send what is ready; the seconds until all of it can be found. */
export const loadBare = async (
  { naming, network, cluster, ask }: Target,
  { path }: Ready,
  { bytes, parallel }: LoadWay,
): Promise<number> => {
  const start = performance.now()
  const bodies = bodiesIn(path, bytes)
  const worker = async () => {
    for (;;) {
      const { value: lines, done } = await bodies.next()
      if (done) return
      const query = { filter_path: FILTER_PATH }
      const answer = await cluster.ask({ method: 'POST', path: '/_bulk', lines, query, timeoutMs: 600_000, retries: 0 })
      const items = answer.text.match(/"status"/g)?.length ?? 0
      const { again, fault, why } = readBulkAnswer(answer, items, at => `document ${at}`)
      if (fault !== undefined || again.length > 0 || items === 0) throw fault ?? new Error(`not all was taken: ${why}`)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  await ask({ method: 'POST', path: `/${baseOf(naming, network)}-*/_refresh` })
  return (performance.now() - start) / 1000
}

import { createKnownIndices } from '../engine/known-indices.ts'
import { createDecodings } from '../engine/query/decodings.ts'
import type { Searcher } from '../engine/query/execute.ts'
import { type Reader, readingIn } from '../engine/reader.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { type Asker, type ClusterNetwork, createAsker } from './asker.ts'
import type { ById } from './by-id.ts'
import { grouping } from './grouped.ts'
import { guarded } from './guarded.ts'
import { relating } from './hits/related.ts'
import { createLookups } from './lookups.ts'
import type { ClusterPages } from './pages.ts'
import { createReplay } from './replay.ts'
import { createSettling, type Settle } from './settled.ts'
import { testing } from './tested.ts'
import { searcherFor, type Working } from './work.ts'

/** Searches the documents of a network that lie in a cluster. */
export interface ClusterSearcher {
  /**
   * Has work done with a searcher, as if the cluster answered at once. What is asked of it is learnt from the work itself: it is given up where
   * an answer is missing, and begun anew once that is there.
   */
  run<T>(work: (searcher: Searcher) => T, asking: Running): Promise<Ran<T>>
  /** For work that is done with several: see `Replay`. */
  searcherOf(working: Working): Searcher
  asker: Asker
  settle: Settle
}

export interface Running {
  signal?: AbortSignal | undefined
  /** Of each request for a page of a long answer. */
  deadlineMs: number
  /** Documents that the work will ask for. */
  wanted?: readonly { kind: Kind; id: string }[] | undefined
}

export interface Ran<T> {
  value: T
  /** Of a long answer: its pages, which have to be ready before they are read. */
  pages: ClusterPages | undefined
}

export interface ClusterSearcherOptions extends ClusterNetwork {
  /** Of the network's store, which holds its blocks. */
  reader: Reader
  limits: Limits
}

export const createClusterSearcher = (options: ClusterSearcherOptions): ClusterSearcher => {
  const { reader, visible, limits } = options
  const settle = createSettling(options)
  const decodings = createDecodings(reader)
  const inStore = readingIn(reader)
  const plain = createAsker({ ...options, cluster: guarded(options, createKnownIndices(reader.db).of) })
  const asker = testing(relating(grouping(plain)), (kind, source) => inStore(() => decodings.of(kind, source)))
  const lookups = createLookups({ asker, reader, visible, settle })

  const searcherOf = (working: Working): Searcher =>
    searcherFor({ ...{ asker, lookups, visible, settle, limits, reader }, ...working })

  const run: ClusterSearcher['run'] = async (work, { signal, deadlineMs, wanted = [] }) => {
    const anew = () => ({ signal, deadline: performance.now() + deadlineMs })
    const byId = wanted.length > 0 ? await lookups.documents(wanted, anew()) : NONE
    let pages: ClusterPages | undefined
    const opened = (it: ClusterPages) => {
      pages = it
    }
    const replay = createReplay()
    const searcher = searcherOf({ need: replay.need, signal, anew, byId, opened })
    try {
      const value = await replay.run(() => work(searcher))
      return { value, pages }
    } catch (error) {
      pages?.close()
      throw error
    }
  }

  return { run, searcherOf, asker, settle }
}

const NONE: ReadonlyMap<Kind, ById> = new Map()

import type { OwnAbi } from '../../decode/declarations.ts'
import type { Decoding } from '../../decode/decoding.ts'
import type { Document } from '../../documents/document.ts'
import type { RevisionBuilder } from '../../engine/index/redecode-patch.ts'
import { openReader, readingIn, type StoreReader } from '../../engine/reader.ts'
import { createUpgrades } from '../../engine/redecode/comparison.ts'
import { blockOf, positionOf } from '../../engine/schema.ts'
import { createShippedReader, type Visible } from '../../engine/shipping/shipped-ranges.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Kind } from '../../mapping/index.ts'
import { type ClusterOptions, connect } from '../connection/cluster.ts'
import type { ClusterHit } from '../hits/cluster-hit.ts'
import { createQueryClient, type QueryClient } from '../query-client.ts'
import type { PatchLine } from '../ship/sending.ts'
import { createCallComparison, createLogComparison, type Quantity, withMembers } from './compare.ts'
import { createFailureComparison } from './failures.ts'
import { createRemoteFinder, type Finder } from './finder.ts'

type ClusterRedecoder = ReturnType<typeof createClusterRedecoder>

/** Opens the redecoding of a cluster's documents by an ABI; `owners` as in the options. */
export type OpenClusterRedecoder = (
  abi: OwnAbi,
  owners: readonly string[] | null,
) => ClusterRedecoder & { close(): Promise<void> }

interface ClusterRedecoderOptions {
  asker: Pick<QueryClient, 'page'>
  /** Reads the network's store, which has its contracts. */
  reader: Pick<StoreReader, 'prepare' | 'begin' | 'end'>
  visible(): Visible
  abi: OwnAbi
  /** Addresses of the contracts that the ABI holds for; null where it may hold for any. */
  owners: readonly string[] | null
  /** Decimals of the token at an address of 40 lower-case digits. */
  decimals(address: string): number | undefined
  revise(segment: number, digitsOf: (address: number) => string): RevisionBuilder
}

/** Position as of which a transaction is decoded: an upgrade applies after its own transaction. */
type BeginningOf = (block: number, tx: number) => number

/** No segment has this number. */
const NO_SEGMENT = -1

/** Finds documents in a cluster that an ABI decodes differently. */
export const createClusterRedecoder = (options: ClusterRedecoderOptions) => {
  const { asker, reader, abi, owners, decimals } = options
  const finder = createRemoteFinder(asker, abi, owners)
  const compareLogs = createLogComparison(abi, decimals)
  const compareCalls = createCallComparison(abi, decimals)
  const compareFailures = createFailureComparison(abi)
  const upgradesIn = createUpgrades(reader)
  const inStore = readingIn(reader)

  const beginnings = async (hits: readonly ClusterHit[], visible: Visible): Promise<BeginningOf> => {
    const found = new Map<number, number[]>()
    inStore(() => {
      for (const block of new Set(hits.map(({ position }) => blockOf(position)))) {
        const positions = upgradesIn(block)
        if (positions.length > 0) found.set(block, positions)
      }
    })
    const logs = await finder.logsAt([...found.values()].flat(), visible)
    const txs = new Map(logs.map(({ position, source }) => [position, placeIn(source)]))
    return (block, tx) =>
      found.get(block)?.find(position => (txs.get(position) ?? -1) >= tx) ?? positionOf(block + 1, 0)
  }

  return {
    /** Looks at about `size` documents, the newest up to a block first. */
    async take(from: number, size: number, decoding: Decoding) {
      const visible = options.visible()
      const { hits, to } = await finder.find(from, size, visible)
      const of = (kind: ClusterHit['kind']) => hits.filter(hit => hit.kind === kind)
      const builder = options.revise(NO_SEGMENT, () => '')
      const changes = createChanges()
      const beginningOf = await beginnings(
        hits.filter(({ kind }) => kind !== 'log'),
        visible,
      )
      const step = { finder, visible, decoding, beginningOf, changes, learn: builder.signature }
      await compareLogs(of('log'), step)
      await compareCalls(of('call'), step)
      await compareFailures({ txs: of('tx'), traces: of('trace') }, step)
      const lines = changes.lines()
      const blocksLeft = visible.ranges.reduce(
        (sum, range) => sum + Math.max(0, Math.min(range.to, to) - range.from + 1),
        0,
      )
      return { lines, learnt: lines.length > 0 ? builder.finish() : undefined, to, blocksLeft }
    },
  }
}

/** Context of one step. */
export interface Step {
  finder: Finder
  visible: Visible
  decoding: Decoding
  beginningOf: BeginningOf
  changes: ReturnType<typeof createChanges>
  /** False where the dictionary has no room for a signature. */
  learn: RevisionBuilder['signature']
}

const placeIn = (source: string): number =>
  Number((JSON.parse(source) as { transactionIndex: Quantity }).transactionIndex.raw)

export type Changes = ReturnType<typeof createChanges>

/** Collects changed documents of a cluster. */
const createChanges = () => {
  const changed = new Map<string, { hit: ClusterHit; members: Map<string, string> }>()
  const lines: PatchLine[] = []
  return {
    /** Sets a member to another value. */
    set(hit: ClusterHit, name: string, value: unknown) {
      const key = `${hit.kind} ${hit.position}`
      const one = changed.get(key) ?? { hit, members: new Map<string, string>() }
      changed.set(key, one)
      one.members.set(name, JSON.stringify(value))
    },
    /** Puts a document at the place of another; `was`: its previous version, if any. */
    put(kind: Kind, beside: ClusterHit, { _id: id, _parent: parent, _source }: Document, was: ClusterHit | undefined) {
      const source = JSON.stringify(_source)
      if (source !== was?.source) lines.push(lineOf({ ...beside, kind, id, parent }, source))
    },
    /** Changed documents only. */
    lines() {
      for (const { hit, members } of changed.values()) {
        const source = withMembers(hit.kind, hit.source, members)
        if (source !== hit.source) lines.push(lineOf(hit, source))
      }
      return lines
    },
  }
}

const ENCODER = new TextEncoder()

const lineOf = (
  {
    kind,
    id,
    position,
    routing,
    parent,
    batch,
  }: Pick<ClusterHit, 'kind' | 'id' | 'position' | 'routing' | 'parent' | 'batch'>,
  source: string,
): PatchLine => ({
  ...{ kind, id, position, routing, parent, batch },
  block: blockOf(position),
  source: ENCODER.encode(source),
})

/** For the cluster of a network. */
export const openRedecoderIn =
  (
    naming: ClusterOptions,
    {
      network,
      store,
      ...given
    }: { network: string; store: string } & Pick<ClusterRedecoderOptions, 'decimals' | 'revise'>,
  ): OpenClusterRedecoder =>
  (abi, owners) => {
    const reader = openReader(store, nativeBinding())
    const cluster = connect(naming)
    const redecoder = createClusterRedecoder({
      asker: createQueryClient({ cluster, naming, network }),
      ...{ reader, visible: createShippedReader(reader.db).visible, abi, owners },
      ...given,
    })
    return {
      ...redecoder,
      async close() {
        reader.close()
        await cluster.close()
      },
    }
  }

import type { AbiShelf, Redecodings } from '../../http/manage/service.ts'
import type { Redecoding as RedecodingInfo } from '../../http/shapes/management.ts'
import type { Indexing } from '../../ingest/network.ts'
import {
  askedAt,
  askToRedecodeBy,
  idOf,
  isStopped,
  openRedecodings,
  type Redecoding,
  stopRedecoding,
} from '../../ingest/requests/redecode-requests.ts'
import { refuse } from '../../lib/errors.ts'

interface RedecodingsOptions {
  /** Of what is asked for. */
  folder: string
  shelf: Pick<AbiShelf, 'info'>
  /** Networks that are stored. */
  stored(): string[]
  /** What attends to a network. */
  indexingOf(network: string): Pick<Indexing, 'report'> | undefined
}

/** Decoding stored blocks again, as HTTP asks for it: by the same files as the command line. */
export const createRedecodings = ({ folder, shelf, stored, indexingOf }: RedecodingsOptions): Redecodings => {
  const show = async (redecoding: Redecoding, isFirst: boolean): Promise<RedecodingInfo> => {
    const { network, next } = redecoding
    const abi = redecoding.abi.replace(/\.json$/, '')
    const report = isFirst ? indexingOf(network)?.report().redecoding : undefined
    const isRunning = isFirst && (next !== null || report != null)
    return {
      ...{ id: idOf(redecoding), network, abi },
      name: (await shelf.info(abi))?.name ?? null,
      askedAt: new Date(askedAt(redecoding)).toISOString(),
      state: isStopped(redecoding) ? 'stopping' : isRunning ? 'running' : 'waiting',
      nextBlock: next === null || next === Number.MAX_SAFE_INTEGER ? null : Math.max(0, next),
      blocksLeft: report?.blocksLeft ?? null,
    }
  }

  const list = async (): Promise<RedecodingInfo[]> => {
    const begun = new Set<string>()
    const shown: RedecodingInfo[] = []
    for (const redecoding of openRedecodings(folder)) {
      const isFirst = !begun.has(redecoding.network)
      begun.add(redecoding.network)
      shown.push(await show(redecoding, isFirst))
    }
    return shown
  }

  return {
    list,
    async start(ids, networks) {
      const wanted = new Map<string, string | null>()
      for (const id of ids) {
        const abi = /^[0-9a-f]{16}$/.test(id) ? await shelf.info(id) : undefined
        if (!abi)
          throw refuse('resource_not_found_exception', `There is no ABI ${id}: GET /abis/ lists those that were added.`)
        wanted.set(id, abi.network)
      }
      const here = stored().filter(network => networks === undefined || networks.includes(network))
      const asked = Array.from(wanted, ([id, network]) =>
        askToRedecodeBy(
          folder,
          `${id}.json`,
          here.filter(stored => network === null || stored === network),
        ),
      )
      const started = new Set(asked.flat().map(idOf))
      return (await list()).filter(({ id }) => started.has(id))
    },
    async stop(id) {
      const found = openRedecodings(folder).find(redecoding => idOf(redecoding) === id)
      const shown = found && (await list()).find(redecoding => redecoding.id === id)
      if (!found || !shown) return undefined
      stopRedecoding(found, shown.state !== 'waiting')
      return { ...shown, state: 'stopping' }
    },
  }
}

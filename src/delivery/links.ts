import type { Config } from '../config/index.ts'
import type { AlertMessage } from './channels/channel.ts'

/** Where people read more about an alert; undefined where the operator configured nothing. */
export interface AlertLinks {
  console(message: Pick<AlertMessage, 'network' | 'entity' | 'source'>): string | undefined
  explorer(message: Pick<AlertMessage, 'network' | 'entity' | 'source'>): string | undefined
  /** Of an address, a transaction's hash or a block's number. */
  explorerOf(network: string, value: string): string | undefined
}

export interface LinkSettings {
  /** URL of this server as people reach it. */
  publicUrl: string | undefined
  /** URL of an explorer for each network: `…/tx/`, `…/address/` and `…/block/` are below it. */
  explorers: Readonly<Record<string, string>>
}

export const createLinks = ({ publicUrl, explorers }: LinkSettings): AlertLinks => {
  const explorerAt = (network: string, page: LinkedPage | undefined) =>
    page && Object.hasOwn(explorers, network) ? `${explorers[network]}/${page.kind}/${page.id}` : undefined
  return {
    console(message) {
      const page = linkedPage(message)
      return page && publicUrl !== undefined
        ? `${publicUrl}/console/${message.network}/${page.kind}/${page.id}`
        : undefined
    },
    explorer: message => explorerAt(message.network, linkedPage(message)),
    explorerOf(network, value) {
      const kind = KIND_OF.find(([pattern]) => pattern.test(value))?.[1]
      return explorerAt(network, kind && { kind, id: value })
    },
  }
}

export const WITHOUT_LINKS: LinkSettings = { publicUrl: undefined, explorers: {} }
export const NO_LINKS: AlertLinks = createLinks(WITHOUT_LINKS)

export const linkSettings = ({ publicUrl, networks }: Pick<Config, 'publicUrl' | 'networks'>): LinkSettings => ({
  publicUrl,
  explorers: Object.fromEntries(
    networks.flatMap(({ network, explorer }) => (explorer === undefined ? [] : [[network, explorer]])),
  ),
})

interface LinkedPage {
  kind: 'tx' | 'address' | 'block'
  id: string
}

/** The page of a document, or of its transaction. */
const linkedPage = ({ entity, source }: Pick<AlertMessage, 'entity' | 'source'>): LinkedPage | undefined => {
  if (entity._type === 'block') return { kind: 'block', id: String(entity.blockNumber) }
  const found =
    entity._type === 'contract' || entity._type === 'token'
      ? ({ kind: 'address', id: source.address } as const)
      : ({ kind: 'tx', id: entity._type === 'tx' ? (source.hash ?? entity._id) : source.transactionHash } as const)
  const [pattern] = KIND_OF.find(([, kind]) => kind === found.kind)!
  return typeof found.id === 'string' && pattern.test(found.id) ? { ...found, id: found.id } : undefined
}

const KIND_OF: readonly [pattern: RegExp, kind: LinkedPage['kind']][] = [
  [/^0x[\da-f]{64}$/i, 'tx'],
  [/^0x[\da-f]{40}$/i, 'address'],
  [/^\d{1,15}$/, 'block'],
]

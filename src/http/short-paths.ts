import { fullName } from '../config/chains.ts'
import { quotedList } from '../rules/input.ts'

/** Paths that omit the network, or name it in one or two parts, as those of the closed service. */
export interface ShortPaths {
  /** The path with the whole name of the network that is meant; others as they are. */
  complete(path: string): string
  /** Why a path means no network; undefined for paths that need none. */
  explain(path: string): string | undefined
}

interface ShortPathOptions {
  networks(): readonly string[]
  /** The network of paths without one. */
  defaultNetwork: string | undefined
}

export const createShortPaths = ({ networks, defaultNetwork }: ShortPathOptions): ShortPaths => {
  const candidates = (name: string): readonly string[] => {
    const known = networks()
    if (name === '') return defaultNetwork === undefined ? known : [defaultNetwork]
    const exact = [`ethereum/${name}`, OLD_NAMES.get(name), fullName(name)].find(
      one => one !== undefined && known.includes(one),
    )
    return exact === undefined ? known.filter(network => `/${network}/`.includes(`/${name}/`)) : [exact]
  }
  return {
    complete(path) {
      const [, name, rest] = SHORT_PATH.exec(path) ?? []
      if (name === undefined || namesWholeNetwork(path, networks)) return path
      const [one, other] = candidates(name.slice(0, -1))
      return one === undefined || other !== undefined ? path : `/${one}/${rest}`
    },
    explain(path) {
      const [, prefix, rest] = SHORT_PATH.exec(path) ?? []
      if (prefix === undefined) return undefined
      const known = networks()
      const name = prefix.slice(0, -1)
      const found = candidates(name)
      const [example = known[0]] = found
      if (example === undefined) return 'the server has no network yet.'
      const write = `Write /${example}/${rest}${name === '' ? ', or start the server with --default-network' : ''}.`
      if (name === '') return `the path names no network, and there are ${quotedList(known)}. ${write}`
      return found.length > 1
        ? `[${name}] may mean ${quotedList(found, 'or')}. ${write}`
        : `no network is called [${name}]: there are ${quotedList(known)}. ${write}`
    },
  }
}

/** Up to two parts of a name, or the three of an old one, before what a network has. */
const SHORT_PATH = /^\/((?:[^/]+\/){0,2}?|ethereum\/poa\/xdai\/)((?:es|gasprice|latest-minimum-gasprice|abi)(?:\/.*)?)$/

/** Whether the path begins with the whole name of a network, whose last part may be `es`. */
const namesWholeNetwork = (path: string, networks: () => readonly string[]) =>
  networks().some(network => path.startsWith(`/${network}/`))

/** Names that the closed service gave to chains, by those of docs/chains.md. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ['poa/xdai', 'ethereum/gnosis/mainnet'],
  ['ethereum/poa/xdai', 'ethereum/gnosis/mainnet'],
])

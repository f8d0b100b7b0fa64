import { navigate, setQuery, useAddress } from './router.tsx'
import { createStore, useStore } from './state.ts'

/** The last choice, for addresses without a network. */
const chosenNetwork = createStore('')

const IN_PATH = /^\/([^/]+\/[^/]+\/[^/]+)\/(?:block|tx|address|token)\//

/** The network of the page; default: the first one. */
export const useNetwork = (networks: readonly string[]): string => {
  const { path, query } = useAddress()
  const chosen = useStore(chosenNetwork)
  return IN_PATH.exec(path)?.[1] ?? (new URLSearchParams(query).get('network') || chosen || networks[0] || '')
}

export const chooseNetwork = (network: string, path: string) => {
  chosenNetwork.set(network)
  if (IN_PATH.test(path)) navigate(`/explore?${new URLSearchParams({ network })}`)
  else setQuery({ network, open: '' })
}

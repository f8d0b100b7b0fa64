import type { ComponentChildren } from 'preact'
import { useStatus } from '../api/status.ts'
import { useNetwork } from '../browser/network.ts'
import { Await, Empty } from './answer.tsx'
import { NetworkContext, ShellCommand } from './text.tsx'

const START = 'chainsieve serve --network ethereum/ethereum/mainnet --rpc URL --from latest-1000'.split(' ')

export const NoNetwork = () => (
  <Empty title="There is no network yet">
    <p>Start the server with a node, or import blocks:</p>
    <ShellCommand parts={START} />
  </Empty>
)

/** What belongs to the network that the header shows. */
export const InChosenNetwork = ({ children }: { children(network: string): ComponentChildren }) => {
  const status = useStatus()
  const network = useNetwork(status.data?.networks.map(it => it.network) ?? [])
  return (
    <Await asked={status} failed="The networks cannot be read" busy="Reading which networks there are" quiet>
      {() =>
        network === '' ? (
          <NoNetwork />
        ) : (
          <NetworkContext.Provider value={network}>{children(network)}</NetworkContext.Provider>
        )
      }
    </Await>
  )
}

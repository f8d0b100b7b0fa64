import { Empty } from '../../parts/empty.tsx'
import { AddressLink } from './address-link.tsx'
import { Coins } from './facts.tsx'
import { Moved, type Movement, Party } from './movements.tsx'
import type { Step } from './steps.ts'

interface Props {
  network: string
  coins: readonly Step[]
  movements: readonly Movement[]
}

/** What a transaction moved: coins of the chain, then tokens. */
export const MovedView = ({ network, coins, movements }: Props) =>
  coins.length + movements.length === 0 ? (
    <Empty title="It moved no coins and no tokens" />
  ) : (
    <ol class="steps" aria-label="Movements">
      {coins.map(({ path, from, to, value }) => (
        <li key={`coin ${path}`}>
          <div class="step">
            <Coins network={network} value={value!} />
          </div>
          <div class="way">
            <AddressLink network={network} value={from} /> → <AddressLink network={network} value={to} />
          </div>
        </li>
      ))}
      {movements.map((movement, i) => (
        <li key={i}>
          <div class="step">
            <Moved network={network} movement={movement} />{' '}
            <span class="dim">
              of <AddressLink network={network} value={movement.token} kind="token" />
            </span>
          </div>
          <div class="way">
            <Party network={network} value={movement.from} zero="created" /> →{' '}
            <Party network={network} value={movement.to} zero="destroyed" />
          </div>
        </li>
      ))}
    </ol>
  )

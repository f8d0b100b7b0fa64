import type { ComponentChildren } from 'preact'
import { Amount } from '../../parts/amount.tsx'
import { COIN_DECIMALS, coinOf, GWEI_DECIMALS } from '../../parts/coin.ts'

/** What is known of a thing, by name. */
export const Facts = ({ children }: { children: ComponentChildren }) => <dl class="thing-facts">{children}</dl>

/** Nothing at all where there is no value. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) =>
  children === null || children === undefined || children === false || children === '' ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )

export const Coins = ({ network, value }: { network: string; value: bigint }) => (
  <Amount value={value} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
)

export const Gwei = ({ value }: { value: bigint }) => <Amount value={value} decimals={GWEI_DECIMALS} symbol="Gwei" />

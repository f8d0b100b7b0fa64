import { isObject, type Json, member, toJson } from '../../api/json.ts'
import { Amount } from '../../parts/amount.tsx'
import { COIN_DECIMALS, coinOf } from '../../parts/coin.ts'
import { Hash } from '../../parts/hash.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { isAddress, type NameOf, titleOf } from './known.ts'

interface Props {
  value: Json | undefined
  field: string
  network: string
  nameOf: NameOf
}

const HASH = /^0x[0-9a-f]{64}$/i

/** A field's value as what it is: an address with its name, an amount with its decimals, a time, or text. */
export const Cell = ({ value, field, network, nameOf }: Props) => {
  if (value === undefined || value === null) return <span class="dim">–</span>
  if (isAddress(value)) return <Hash value={value} kind="address" network={network} name={titleOf(nameOf, value)} />
  if (typeof value === 'string' && HASH.test(value)) return <Hash value={value} {...kindOf(field, network)} />
  if (field === 'timestamp' && (typeof value === 'number' || typeof value === 'string'))
    return <Time value={value} brief />
  const raw = member(value, 'raw')
  if (isObject(value) && typeof raw === 'string' && /^0x[0-9a-f]+$/i.test(raw))
    return 'coin' in value ? (
      <Amount value={raw} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
    ) : (
      <span class="amount">{BigInt(raw).toLocaleString()}</span>
    )
  return <Text value={typeof value === 'string' ? value : toJson(value)} most={200} brief />
}

const kindOf = (field: string, network: string) =>
  field === 'hash' || field === 'transactionHash'
    ? ({ kind: 'tx', network } as const)
    : field === 'blockHash' || field === 'parentHash'
      ? ({ kind: 'block', network } as const)
      : {}

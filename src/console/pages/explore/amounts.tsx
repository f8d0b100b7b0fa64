import { at, type Json, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Amount } from '../../parts/amount.tsx'
import { COIN_DECIMALS, coinOf } from '../../parts/coin.ts'
import type { NameOf } from './known.ts'

interface Props {
  hit: Hit
  network: string
  nameOf: NameOf
}

/** How much a hit moved: of the chain's coin, or of a token whose decimals are known. */
export const HitAmount = ({ hit: { _type, _source }, network, nameOf }: Props) => {
  if (_type === 'event') {
    const token = nameOf(textAt(_source, 'address') ?? '')
    const units = token?.decimals === undefined ? undefined : movedBy(at(_source, 'args'))
    if (token?.decimals === undefined || units === undefined) return null
    return <Amount value={units} decimals={token.decimals} symbol={token.symbol ?? token.name} />
  }
  const raw = textAt(_source, 'value.raw') ?? textAt(_source, 'action.value.raw')
  if (raw === undefined || !/^0x[0-9a-f]+$/i.test(raw)) return null
  return <Amount value={raw} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
}

/** As the standards of tokens, and those who follow them, call it. */
const NAMES = new Set(['value', 'amount', 'wad', 'tokens', '_value', '_amount', 'assets'])

const movedBy = (args: Json | undefined): string | undefined => {
  if (!Array.isArray(args)) return undefined
  const found = args.find(it => NAMES.has(textAt(it, 'name') ?? '') && /^uint\d+$/.test(textAt(it, 'value.type') ?? ''))
  const hex = textAt(found, 'value.hex')
  return hex !== undefined && /^0x[0-9a-f]+$/i.test(hex) ? hex : undefined
}

import { Text } from './text.tsx'

interface Props {
  /** In the smallest unit: an integer, also in hex. */
  value: bigint | number | string
  /** Digits behind the point. */
  decimals?: number
  symbol?: string | undefined
}

/** An amount, exact to its last digit. */
export const Amount = ({ value, decimals = 0, symbol }: Props) => {
  const units = BigInt(value)
  return (
    <span class="amount" title={`${units}${decimals > 0 ? ` / 10^${decimals}` : ''}`}>
      {showAmount(units, decimals)}
      {symbol !== undefined && (
        <>
          {' '}
          <Text value={symbol} most={16} brief />
        </>
      )}
    </span>
  )
}

export const showAmount = (units: bigint, decimals: number): string => {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString()
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction && POINT + fraction}`
}

const POINT = new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'

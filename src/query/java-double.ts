/** A double as Java writes it: `1.0`, `1.0E10`, `1.0E-4`, `NaN`, `-Infinity`. */
export const javaDouble = (value: number): string => {
  const size = Math.abs(value)
  if (size < 1e7 && size >= 1e-3) return Number.isInteger(value) ? `${value}.0` : String(value)
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  if (!Number.isFinite(value)) return String(value)
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${Number(exponent)}`
}

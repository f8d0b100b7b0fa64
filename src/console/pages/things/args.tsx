import { at, type Json, textAt } from '../../api/json.ts'
import { Text } from '../../parts/text.tsx'
import { AddressLink } from './address-link.tsx'
import { elementsOf, integerOf, numberAt, utf8Of } from './read.ts'

/** The arguments of an event or a call, by name, with their types. */
export const Args = ({ network, args }: { network: string; args: readonly Json[] }) =>
  args.length === 0 ? null : (
    <dl class="args">
      {args.map((argument, i) => {
        const name = textAt(argument, 'name')
        return (
          <div key={i}>
            <dt>
              <Text value={name || `argument ${i}`} most={60} brief />{' '}
              <span class="dim">
                <Text value={textAt(argument, 'value.type') ?? ''} most={60} brief />
              </span>
            </dt>
            <dd>
              <Value network={network} argument={argument} />
            </dd>
          </div>
        )
      })}
    </dl>
  )

/** Of these, the decimals of the contract are meant; others may be of another token, or no amounts at all. */
const AMOUNT = /^_?(value|amount|wad)$/i

const Value = ({ network, argument }: { network: string; argument: Json }) => {
  const [type, hex] = [textAt(argument, 'value.type') ?? '', textAt(argument, 'value.hex')]
  if (hex === undefined) return <span class="dim">not told</span>
  if (type === 'address') return <AddressLink network={network} value={hex} />
  if (type === 'bool') return <>{at(argument, 'value.num') === 1 || hex.endsWith('1') ? 'true' : 'false'}</>
  // Of an indexed string, only the hash stands in the log.
  if (type === 'string') return <Text value={utf8Of(hex)} />
  const integer = integerOf(type, hex)
  if (integer !== undefined) {
    const isAmount = AMOUNT.test(textAt(argument, 'name') ?? '')
    return <Integer value={integer} scaled={isAmount ? numberAt(argument, 'value.scaled') : undefined} />
  }
  const elements = elementsOf(type, hex)
  if (!elements) return <Raw hex={hex} />
  return (
    <ol class="elements" start={0}>
      {elements.map((element, i) => (
        <li key={i}>
          {type.startsWith('address') ? <AddressLink network={network} value={element} /> : <Text value={element} />}
        </li>
      ))}
    </ol>
  )
}

const Integer = ({ value, scaled }: { value: bigint; scaled: number | undefined }) => (
  <span class="amount">
    {String(value)}
    {scaled !== undefined && (
      <span class="dim"> ≈ {scaled.toLocaleString(undefined, { maximumFractionDigits: 6 })}</span>
    )}
  </span>
)

/** Bytes, cut until all of them are asked for. */
export const Raw = ({ hex, most = 200 }: { hex: string; most?: number }) => (
  <code class="bytes">
    <Text value={hex} most={most} />
  </code>
)

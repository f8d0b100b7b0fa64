import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { Link } from '../browser/router.tsx'
import { createStore, useStore } from '../browser/state.ts'
import { hrefOf } from '../routes.ts'
import { announce, Button } from './controls.tsx'
import { ago, COIN_DECIMALS, coinOf, dateOf, formatAmount, shortHex, since, visible } from './format.ts'

/** A sentence with values and elements in it. */
export const say = (texts: TemplateStringsArray, ...values: readonly ComponentChildren[]) => (
  <>{texts.map((text, i) => [text, values[i]])}</>
)

/** The same, for what matters less. */
export const dim = (texts: TemplateStringsArray, ...values: readonly ComponentChildren[]) => (
  <span class="dim">{say(texts, ...values)}</span>
)

/** Of which network the values are that are shown. */
export const NetworkContext = createContext('')

interface TextProps {
  value: string
  /** Characters that are shown at first. */
  most?: number
  /** Without a button for the rest, as in a row of a table. */
  brief?: boolean
}

/**
 * Text from the chain, whatever it is: it cannot change the direction of what stands around it, characters that are
 * not seen are named, and long text is cut.
 */
export const Text = ({ value, most = 200, brief = false }: TextProps) => {
  const [all, setAll] = useState(false)
  const isLong = value.length > most
  const shown = isLong && !all ? cutAt(value, most) : value
  const toggle = all ? 'Show less' : `Show all ${value.length.toLocaleString()} characters`
  return (
    <bdi class="text">
      {visible(shown).map(({ name, text }, i) =>
        name === undefined ? (
          text
        ) : (
          <span key={i} class="odd" title={`An invisible character: ${name}`}>
            {name}
          </span>
        ),
      )}
      {isLong && !all && '…'}
      {isLong && !brief && <Button class="link" label={toggle} onClick={() => setAll(!all)} />}
    </bdi>
  )
}

/** Never in the middle of a pair. */
const cutAt = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)
}

/** Copies a text whole, however little of it is shown. `what` names it for those who do not see it. */
export const Copy = ({ text, what }: { text: string; what: string }) => (
  <button
    type="button"
    class="copy"
    aria-label={`Copy ${what}`}
    title={`Copy ${what}`}
    onClick={event => {
      event.stopPropagation()
      void copyText(text, what)
    }}
  >
    <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d="M5 5V2h9v9h-3M2 5h9v9H2z" fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  </button>
)

export const copyText = async (text: string, what: string) => {
  try {
    await navigator.clipboard.writeText(text)
    announce(`Copied ${what}.`)
  } catch {
    // Without HTTPS, browsers keep the clipboard from pages.
    announce(`This browser does not let the console copy here. Select the text: ${text}`, 'error')
  }
}

interface HashProps {
  value: string
  /** What it is the hash or the address of; where the network is known it leads to the page of that. */
  kind?: 'block' | 'tx' | 'address' | 'token' | undefined
  /** By default the one of the page. */
  network?: string | null
  /** What it is known as, such as the name of a contract. */
  name?: string | undefined
  /** Without a button that copies it. */
  brief?: boolean
}

/** A hash or an address: short, and whole for the clipboard and as a title. */
export const Hash = ({ value, kind, network, name, brief = false }: HashProps) => {
  const around = useContext(NetworkContext)
  const of = network ?? around
  const href = kind && of && HEX_FORMAT.test(value) ? hrefOf(of, kind, value) : undefined
  const text = name === undefined ? <code>{shortHex(value)}</code> : <Text value={name} most={32} brief />
  return (
    <span class="hash">
      {href === undefined ? <span title={value}>{text}</span> : <Link to={href} title={value} children={text} />}
      {!brief && <Copy text={value} what={shortHex(value)} />}
    </span>
  )
}

const HEX_FORMAT = /^0x[0-9a-f]+$/i

interface AmountProps {
  /** In the smallest unit: an integer, also in hex. */
  value: bigint | number | string
  /** Digits behind the point. */
  decimals?: number
  symbol?: string | undefined
}

/** An amount, exact to its last digit. */
export const Amount = ({ value, decimals = 0, symbol }: AmountProps) => {
  const units = BigInt(value)
  return (
    <span class="amount" title={`${units}${decimals > 0 ? ` / 10^${decimals}` : ''}`}>
      {formatAmount(units, decimals)}
      {symbol !== undefined && ' '}
      {symbol !== undefined && <Text value={symbol} most={16} brief />}
    </span>
  )
}

/** An amount of the coin of the page's network. */
export const Coins = ({ value }: { value: bigint | string }) => (
  <Amount value={value} decimals={COIN_DECIMALS} symbol={coinOf(useContext(NetworkContext))} />
)

interface TimeProps {
  /** In seconds since 1970, or ISO text in UTC. */
  value: number | string
  brief?: boolean
  /** It may be still to come. */
  due?: boolean
}

/** A moment: as the system writes it, and how long ago. */
export const Time = ({ value, brief = false, due = false }: TimeProps) => {
  const now = useNow()
  const date = dateOf(value)
  if (Number.isNaN(date.getTime())) return <span>{String(value)}</span>
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {ABSOLUTE.format(date)}
      {!brief && <span class="dim"> {(due ? ago : since)(date.getTime(), now)}</span>}
    </time>
  )
}

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' })

/** One clock for all of them. */
const clock = createStore(Date.now())
let [users, timer] = [0, 0]

const useNow = (): number => {
  useEffect(() => {
    // It stood still while nothing showed a time.
    if (users === 0) clock.set(Date.now())
    if (users++ === 0) timer = window.setInterval(() => clock.set(Date.now()), 10_000)
    return () => {
      if (--users === 0) clearInterval(timer)
    }
  }, [])
  return useStore(clock)
}

/** A command for a shell, to be copied. */
export const ShellCommand = ({ parts }: { parts: readonly string[] }) => {
  const text = parts.map(quote).join(' ')
  return (
    <p class="command">
      <code>
        <Text value={text} most={500} />
      </code>
      <Copy text={text} what="the command" />
    </p>
  )
}

const quote = (part: string): string => (/^[\w./:=-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`)

/** What is known of a thing, by name; what is absent, false or empty is left out. */
export const Facts = ({ of, class: style = 'facts' }: { of: Record<string, ComponentChildren>; class?: string }) => (
  <dl class={style}>
    {Object.entries(of).map(([name, value]) =>
      value === undefined || value === null || value === false || value === '' ? null : (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
)

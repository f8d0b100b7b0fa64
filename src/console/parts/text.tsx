import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { zone } from '../browser/preferences.ts'
import { Link } from '../browser/router.tsx'
import { createStore, useStore } from '../browser/state.ts'
import { hrefOf } from '../routes.ts'
import { announce } from './announce.ts'
import { ago, COIN_DECIMALS, coinOf, dateOf, formatAmount, roundedUnits, shortHex, since, visible } from './format.ts'
import { Icon } from './icon.tsx'

/** Template for sentences with elements. */
export const say = (texts: TemplateStringsArray, ...values: readonly ComponentChildren[]) => (
  <>{texts.map((text, i) => [text, values[i]])}</>
)

/** The same, dimmed. */
export const dim = (texts: TemplateStringsArray, ...values: readonly ComponentChildren[]) => (
  <span class="dim">{say(texts, ...values)}</span>
)

/** Network of the shown values. */
export const NetworkContext = createContext('')

interface TextProps {
  value: string
  /** Characters shown at first. */
  most?: number
  /** Without an expand button, as in tables. */
  brief?: boolean
}

/** Untrusted text, sanitized: bidi-isolated, invisible characters named, long text cut. No HTML. */
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
      {isLong && !brief && (
        <button type="button" class="link" onClick={() => setAll(!all)}>
          {toggle}
        </button>
      )}
    </bdi>
  )
}

/** Never splits a surrogate pair. */
const cutAt = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)
}

/** Copies the whole text; `what` is the accessible name. */
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
    <Icon name="copy" />
  </button>
)

export const copyText = async (text: string, what: string) => {
  try {
    await navigator.clipboard.writeText(text)
    announce(`Copied ${what}.`)
  } catch {
    // Browsers need HTTPS for the clipboard.
    announce(`This browser does not let the console copy here. Select the text: ${text}`, 'error')
  }
}

interface HashProps {
  value: string
  /** Kind of page that it links to. */
  kind?: 'block' | 'tx' | 'address' | 'token' | undefined
  /** Default: the page's network. */
  network?: string | null
  /** Known name such as a contract's. */
  name?: string | undefined
  /** Without a copy button. */
  brief?: boolean
}

/** Whether there is room for whole hashes. */
export const RoomContext = createContext(false)

/** A hash or address, shortened where there is no room; clipboard and title have all of it. */
export const Hash = ({ value, kind, network, name, brief = false }: HashProps) => {
  const around = useContext(NetworkContext)
  const hasRoom = useContext(RoomContext)
  const of = network ?? around
  const href = kind && of && HEX_FORMAT.test(value) ? hrefOf(of, kind, value) : undefined
  const text =
    name === undefined ? <code>{hasRoom ? value : shortHex(value)}</code> : <Text value={name} most={32} brief />
  return (
    <span class="hash">
      {href === undefined ? <span title={value}>{text}</span> : <Link to={href} title={value} children={text} />}
      {!brief && <Copy text={value} what={shortHex(value)} />}
    </span>
  )
}

const HEX_FORMAT = /^0x[0-9a-f]+$/i

interface AmountProps {
  /** Smallest units, decimal or hex. */
  value: bigint | number | string
  /** Decimal places. */
  decimals?: number
  symbol?: string | undefined
  /** Rounds it. */
  brief?: boolean
}

/** An amount with its smallest units as title. */
export const Amount = ({ value, decimals = 0, symbol, brief = false }: AmountProps) => {
  const units = BigInt(value)
  return (
    <span class="amount" title={`${units}${decimals > 0 ? ` / 10^${decimals}` : ''}`}>
      {formatAmount(brief ? roundedUnits(units, decimals) : units, decimals)}
      {symbol !== undefined && ' '}
      {symbol !== undefined && <Text value={symbol} most={16} brief />}
    </span>
  )
}

export const Coins = ({ value, brief = false }: Pick<AmountProps, 'value' | 'brief'>) => (
  <Amount {...{ value, brief }} decimals={COIN_DECIMALS} symbol={coinOf(useContext(NetworkContext))} />
)

interface TimeProps {
  /** Epoch seconds or ISO text in UTC. */
  value: number | string
  brief?: boolean
  /** Whether it may be in the future. */
  due?: boolean
}

/** Absolute and relative time. */
export const Time = ({ value, brief = false, due = false }: TimeProps) => {
  const now = useNow()
  const date = dateOf(value)
  if (Number.isNaN(date.getTime())) return <span>{String(value)}</span>
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {CLOCKS[useStore(zone)].format(date)}
      {!brief && <span class="dim"> {(due ? ago : since)(date.getTime(), now)}</span>}
    </time>
  )
}

/** As `2025-01-31 23:59:59`, which sorts and is read alike everywhere. */
const clockOf = (timeZone?: string) =>
  new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone })
export const CLOCKS = { UTC: clockOf('UTC'), local: clockOf() }

/** Shared clock of all relative times. */
const clock = createStore(Date.now())
let [users, timer] = [0, 0]

const useNow = (): number => {
  useEffect(() => {
    // The clock stops while no time is shown.
    if (users === 0) clock.set(Date.now())
    if (users++ === 0) timer = window.setInterval(() => clock.set(Date.now()), 10_000)
    return () => {
      if (--users === 0) clearInterval(timer)
    }
  }, [])
  return useStore(clock)
}

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

/** Named facts; absent, false and empty ones are left out. */
export const Facts = ({ of, class: style = 'facts' }: { of: Record<string, ComponentChildren>; class?: string }) => (
  <RoomContext.Provider value={style !== 'facts'}>
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
  </RoomContext.Provider>
)

/** Title of a page, its state and its actions. */
export const PageHead = ({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) => (
  <header class="page-head">
    <h1>{title}</h1>
    {children}
  </header>
)

import { useEffect, useState } from 'preact/hooks'
import { useLive } from './api/ask.ts'
import { ApiError, messageOf } from './api/client.ts'
import type { Status } from './api/wire.ts'
import { activeKeys, type Shortcut, useKey } from './browser/keys.ts'
import { Link, useAddress } from './browser/router.tsx'
import { connection, rootUrl, session, signIn, signOut, useStore } from './browser/state.ts'
import { Busy, Empty, Fault } from './parts/answer.tsx'
import { Button, Confirm, Dialog, Field, Form, Toasts } from './parts/controls.tsx'
import { visibleText } from './parts/format.ts'
import { type ConsolePage, findPage, homeOf, PAGES } from './routes.ts'

export const App = () => {
  const { token } = useStore(session)
  const [begun, setBegun] = useState(token !== undefined)
  useEffect(() => {
    if (token !== undefined) setBegun(true)
  }, [token])
  const isIn = token !== undefined
  return (
    <>
      {isIn && <PageHeader />}
      <Banner />
      {!isIn && <SignIn />}
      {/* Keeps the page and its inputs behind the sign-in. */}
      {(isIn || begun) && (
        <div class="page" hidden={!isIn}>
          <Outlet />
        </div>
      )}
      <Toasts />
      <Confirm />
      <KeysDialog />
    </>
  )
}

const STATUS_MS = 10_000

const PageHeader = () => {
  const { path } = useAddress()
  const { data } = useLive<Status>('status', STATUS_MS)
  const current = findPage(path)?.page
  return (
    <header class="head">
      <a class="skip" href="#main">
        Skip to the contents
      </a>
      <strong class="brand">Chainsieve</strong>
      <nav aria-label="Pages">
        {PAGES.map(page => {
          const home = homeOf(page)
          return (
            home !== undefined && (
              <Link key={page.name} to={home} current={page === current}>
                {page.title}
                {page.name === 'status' && data && <Badge status={data} />}
              </Link>
            )
          )
        })}
      </nav>
      <Button class="quiet" label="Sign out" onClick={() => signOut()} />
    </header>
  )
}

/** Number of current problems. */
const Badge = ({ status: { reasons = [], deliveries } }: { status: Status }) => {
  const failing = deliveries?.failing.length ?? 0
  const count = reasons.length + failing
  if (count === 0) return null
  const said = [
    ...(failing === 0
      ? []
      : [failing === 1 ? 'a receiver of alerts is failing' : `${failing} receivers of alerts are failing`]),
    ...reasons.map(({ network, reason }) => `${network === undefined ? '' : `${network}: `}${reason}`),
  ].join('; ')
  return (
    <span class="badge" role="img" aria-label={visibleText(said)} title={visibleText(said)}>
      {count}
    </span>
  )
}

const Banner = () => {
  const { state } = useStore(connection)
  return (
    <div role="alert">
      {state === 'down' && (
        <p class="banner">The server does not answer. The console will go on when the server is back.</p>
      )}
    </div>
  )
}

type Loaded = Awaited<ReturnType<ConsolePage['load']>>['default']

const Outlet = () => {
  const { path } = useAddress()
  const found = findPage(path)
  const [loaded, setLoaded] = useState<{ page: ConsolePage; Content?: Loaded; error?: unknown }>()
  const page = found?.page
  const { since } = useStore(connection)

  useEffect(() => {
    document.title = page ? `${page.title} · Chainsieve` : 'Chainsieve'
    if (!page || (loaded?.Content && loaded.page === page)) return
    let wanted = true
    page.load().then(
      ({ default: Content }) => wanted && setLoaded({ page, Content }),
      error => wanted && setLoaded({ page, error }),
    )
    return () => {
      wanted = false
    }
  }, [page, since])

  const shown = () => {
    if (!found)
      return (
        <Empty title="There is no page at this address">
          <Link to="/">Go to Explore</Link>
        </Empty>
      )
    if (loaded?.page !== page) return <Busy label="Loading the page" />
    if (loaded?.Content) return <loaded.Content parameters={found.parameters} />
    return <Fault title="The page cannot be loaded" error={`${messageOf(loaded?.error)} Reload the console.`} />
  }
  return (
    <main id="main" tabIndex={-1}>
      {shown()}
    </main>
  )
}

const SignIn = () => {
  const { reason } = useStore(session)
  const [token, setToken] = useState('')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)

  const submit = async () => {
    const given = token.trim()
    if (!TOKEN_FORMAT.test(given)) return setError('This is not a token. Tokens begin with cs_.')
    setBusy(true)
    try {
      await checkToken(given)
      signIn(given)
    } catch (error) {
      setError(messageOf(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <main class="sign-in">
      <h1>Chainsieve</h1>
      {reason !== undefined && <p class="fault">You were signed out: {reason}</p>}
      <Form onSubmit={submit}>
        <Field label="Token" error={error} hint="The token stays in this tab, until you close it or sign out.">
          {field => (
            <input
              {...field}
              type="password"
              autocomplete="off"
              value={token}
              onInput={event => setToken(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit" class="main" disabled={busy}>
          Sign in
        </button>
      </Form>
      <p class="dim">
        The demo server and <code>chainsieve dev</code> print a token when they start. Otherwise the operator creates
        one: <code>chainsieve token create --account NAME</code>
      </p>
    </main>
  )
}

const TOKEN_FORMAT = /^cs_[\w-]+$/

/** Not by `callApi`, which would end a session. */
const checkToken = async (token: string) => {
  const response = await fetch(`${rootUrl}status`, { headers: { authorization: `Bearer ${token}` } }).catch(() => {
    throw new ApiError(0, 'no_answer', 'The server does not answer. Try again in a moment.')
  })
  if (response.ok) return
  if (response.status !== 401) throw new Error(`The server answered ${response.status}. Try again in a moment.`)
  throw new Error('The token is not valid: it is unknown, expired or revoked. Ask the operator for another one.')
}

const KeysDialog = () => {
  const [shown, setShown] = useState<readonly Shortcut[]>()
  useKey('?', 'Lists these keys', () => setShown(activeKeys()))
  useKey('/', 'Goes to the search box', () => document.querySelector<HTMLElement>('[data-search]')?.focus())
  if (!shown) return null
  return (
    <Dialog title="Keys" onClose={() => setShown(undefined)}>
      <dl class="keys">
        {shown.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{NAMES.get(key) ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const NAMES: ReadonlyMap<string, string> = new Map([
  [' ', 'Space'],
  ['Escape', 'Esc'],
])

import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api/client.ts'
import { getStatus } from '../api/index.ts'
import { useLive } from '../api/use-live.ts'
import type { Status } from '../api/wire.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Busy } from '../parts/progress.tsx'
import { Toasts } from '../parts/toast.tsx'
import { plain } from '../parts/visible.ts'
import { findPage, homeOf, PAGES, type Page, type PageProps } from '../routes.ts'
import { connection } from './connection.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { Link, usePlace } from './router.tsx'
import { session, signOut } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { useStore } from './store.ts'

export const App = () => {
  const { token } = useStore(session)
  const [begun, setBegun] = useState(token !== undefined)
  useEffect(() => {
    if (token !== undefined) setBegun(true)
  }, [token])
  const isIn = token !== undefined
  return (
    <>
      {isIn && <Head />}
      <Banner />
      {!isIn && <SignIn />}
      {/* A page whose session ended waits behind the sign-in with all that was typed in it. */}
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

const Head = () => {
  const { path } = usePlace()
  const { data } = useLive('status', getStatus, STATUS_MS)
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
      <button type="button" class="quiet" onClick={() => signOut()}>
        Sign out
      </button>
    </header>
  )
}

/** What is wrong now, as a number. */
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
    <span class="badge" role="img" aria-label={plain(said)} title={plain(said)}>
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

type Loaded = Awaited<ReturnType<Page['load']>>['default']

const Outlet = () => {
  const { path } = usePlace()
  const found = findPage(path)
  const [loaded, setLoaded] = useState<{ page: Page; Content?: Loaded; error?: unknown }>()
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

  return (
    <main id="main" tabIndex={-1}>
      {!found && (
        <Empty title="There is no page at this address">
          <Link to="/">Go to Explore</Link>
        </Empty>
      )}
      {found && loaded?.page !== found.page && <Busy label="Loading the page" />}
      {found && loaded?.page === found.page && (
        <Shown Content={loaded.Content} error={loaded.error} parameters={found.parameters} />
      )}
    </main>
  )
}

const Shown = ({ Content, error, parameters }: { Content?: Loaded | undefined; error?: unknown } & PageProps) =>
  Content ? (
    <Content parameters={parameters} />
  ) : (
    <Fault title="The page cannot be loaded" error={`${messageOf(error)} Reload the console.`} />
  )

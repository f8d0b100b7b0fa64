import { useEffect, useState } from 'preact/hooks'
import { useLive } from './api/ask.ts'
import { messageOf } from './api/client.ts'
import { StatusContext } from './api/status.ts'
import type { Status } from './api/wire.ts'
import { Link, useAddress } from './browser/router.tsx'
import { connection, session, useStore } from './browser/state.ts'
import { Busy, Empty, Fault } from './parts/answer.tsx'
import { Confirm, Toasts } from './parts/controls.tsx'
import { type ConsolePage, findPage } from './routes.ts'
import { Banners, SideBar, TopBar } from './shell/index.tsx'
import { KeysDialog } from './shell/keys.tsx'
import { SignIn } from './shell/sign-in.tsx'

export const App = () => {
  const { token } = useStore(session)
  const [begun, setBegun] = useState(token !== undefined)
  useEffect(() => {
    if (token !== undefined) setBegun(true)
  }, [token])
  const isIn = token !== undefined
  return (
    <>
      {!isIn && <SignIn />}
      {/* Keeps the page and its inputs behind the sign-in. */}
      {(isIn || begun) && <Shell isIn={isIn} />}
      <Toasts />
      <Confirm />
      <KeysDialog />
    </>
  )
}

const STATUS_MS = 10_000

const Shell = ({ isIn }: { isIn: boolean }) => (
  <StatusContext.Provider value={useLive<Status>('status', STATUS_MS)}>
    <div class="shell" hidden={!isIn}>
      {isIn && <SideBar />}
      {isIn && <TopBar />}
      <Banners />
      <div class="page">
        <Outlet />
      </div>
    </div>
  </StatusContext.Provider>
)

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

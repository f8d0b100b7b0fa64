import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useGet, useLive } from './api/ask.ts'
import { AccountContext, StatusContext } from './api/status.ts'
import type { SignedInAccount, Status } from './api/wire.ts'
import { Link, useAddress } from './browser/router.tsx'
import { session, useStore } from './browser/state.ts'
import Abis from './pages/abis/index.tsx'
import Account from './pages/account/index.tsx'
import Explore from './pages/explore/index.tsx'
import Gas from './pages/gas/index.tsx'
import Rules from './pages/rules/index.tsx'
import StatusPage from './pages/status/index.tsx'
import Address from './pages/things/address.tsx'
import Block from './pages/things/block.tsx'
import Token from './pages/things/token.tsx'
import Transaction from './pages/things/tx.tsx'
import { Empty } from './parts/answer.tsx'
import { Confirm, Toasts } from './parts/controls.tsx'
import { findPage, type PageName, type PageProps } from './routes.ts'
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
    <AccountContext.Provider value={useGet<SignedInAccount>('account')}>
      <div class="shell" hidden={!isIn}>
        {isIn && <SideBar />}
        {isIn && <TopBar />}
        <Banners />
        <div class="page">
          <Outlet />
        </div>
      </div>
    </AccountContext.Provider>
  </StatusContext.Provider>
)

const CONTENTS: Record<PageName, FunctionComponent<PageProps>> = {
  ...{ explore: Explore, rules: Rules, block: Block, tx: Transaction, address: Address, token: Token },
  ...{ gas: Gas, status: StatusPage, abis: Abis, account: Account },
}

const Outlet = () => {
  const found = findPage(useAddress().path)
  useEffect(() => {
    document.title = found ? `${found.page.title} · Chainsieve` : 'Chainsieve'
  }, [found?.page])
  const Content = found && CONTENTS[found.page.name]
  return (
    <main id="main" tabIndex={-1}>
      {Content ? (
        <Content key={found.page.name} parameters={found.parameters} />
      ) : (
        <Empty title="There is no page at this address">
          <Link to="/">Go to Explore</Link>
        </Empty>
      )}
    </main>
  )
}

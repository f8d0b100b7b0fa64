import { render } from 'preact'
import { App } from './app.tsx'

const TOO_OLD = 'This browser is too old for the console. Use Chrome 123, Firefox 135, Safari 18.4, or a newer one.'

const app = document.getElementById('app')!
// Needed for exact integers.
if (typeof JSON.rawJSON === 'function') render(<App />, app)
else app.textContent = TOO_OLD

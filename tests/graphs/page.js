// Runs the script of the control's page against a run, with as much of a browser as it needs, and prints what the page
// shows:  node page.js http://127.0.0.1:PORT
const base = process.argv[2], parts = {}, fetched = fetch;
const part = () => ({
  children: [], options: [], textContent: '', value: '', hidden: false, disabled: false,
  appendChild(child) { this.children.push(child); return child; },
  replaceChildren(...children) { this.children = children; },
  add(option) { this.options.push(option); },
});
const state = { waits: [], urls: 0 };
Object.assign(globalThis, {
  document: { getElementById: id => parts[id] || (parts[id] = part()), createElement: part, title: '' },
  location: { hash: '' },
  sessionStorage: { getItem: () => null, setItem() {} },
  Option: function (text, value) { Object.assign(this, { text, value }); },
  fetch: (path, options) => fetched(base + path, options),
  alert: text => { throw new Error(text); },
});
URL.createObjectURL = blob => { state.urls++; return 'blob:' + blob.type; };

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

(async () => {
  const page = await (await fetched(base + '/')).text();
  new Function('setTimeout', /<script>([^]*)<\/script>/.exec(page)[1])(run => state.waits.push(run));
  for (let i = 0; i < 60 && !(parts.picture && parts.picture.src); i++) {
    await pause(100);
    if (parts.pad && parts.pad.options.length) parts.pad.value = parts.pad.options[parts.pad.options.length - 1].value;
    for (const run of state.waits.splice(0)) run();
  }
  for (const row of parts.rows.children) console.log('row ' + row.children.map(cell => cell.textContent).join('|'));
  console.log('state ' + parts.state.textContent);
  console.log('pads ' + parts.pad.options.map(option => option.value).join(' '));
  console.log('picture ' + parts.picture.src + ' hidden ' + parts.picture.hidden);
  console.log('word ' + parts.word.textContent);
  parts.stop.onclick();
  await pause(300);
  process.exit(0);
})();

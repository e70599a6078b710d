'use strict';
(() => {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const make = (name, attributes, text) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // Sorting: numbers by data-v, texts as they are read. A second click turns it round.
  const key = cell => {
    if (!cell) return '';
    const v = cell.getAttribute('data-v');
    return v === null ? cell.textContent.trim().toLowerCase() : Number(v);
  };
  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === 'number' ? -1 : 1;
  };
  for (const table of all('table.sortable')) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((th, column) => {
      if (th.tagName !== 'TH') return; // above what is no figure
      const button = make('button', {type: 'button'}, th.textContent.trim());
      th.textContent = '';
      th.append(button);
      button.addEventListener('click', () => {
        const down = th.getAttribute('aria-sort') === 'none' || !th.hasAttribute('aria-sort')
          ? th.classList.contains('n') : th.getAttribute('aria-sort') === 'ascending';
        heads.forEach(h => h.removeAttribute('aria-sort'));
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const body = table.tBodies[0];
        const rows = Array.from(body.rows).map((row, i) => ({row, i, k: key(row.cells[column])}));
        rows.sort((a, b) => (down ? compare(b.k, a.k) : compare(a.k, b.k)) || a.i - b.i);
        body.append(...rows.map(r => r.row));
      });
    });
  }

  // Filtering: by words of a row, and by its kind where rows have one.
  all('table.filterable').forEach((table, n) => {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length < 2) return;
    const bar = make('div', {class: 'filter', role: 'search', 'aria-label': 'Filter: ' + (table.caption ? table.caption.textContent.trim() : 'table')});
    const input = make('input', {type: 'search', id: 'filter-' + n, placeholder: 'Filter…', 'aria-label': 'Rows that hold', autocomplete: 'off', spellcheck: 'false'});
    const count = make('output', {for: 'filter-' + n});
    bar.append(input);
    const kinds = [...new Set(rows.map(r => r.getAttribute('data-k')).filter(Boolean))].sort();
    let select = null;
    if (kinds.length > 1) {
      select = make('select', {'aria-label': table.getAttribute('data-kinds') || 'Kind'});
      select.append(make('option', {value: ''}, 'all ' + (table.getAttribute('data-kinds') || 'kinds')));
      for (const k of kinds) select.append(make('option', {value: k}, k));
      bar.append(select);
    }
    bar.append(count);
    const texts = rows.map(r => r.textContent.toLowerCase());
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kind = select ? select.value : '';
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = (!kind || row.getAttribute('data-k') === kind) && words.every(w => texts[i].includes(w));
        row.hidden = !fits;
        if (fits) shown++;
      });
      count.textContent = shown === rows.length ? rows.length + ' rows' : shown + ' of ' + rows.length + ' rows';
    };
    input.addEventListener('input', apply);
    if (select) select.addEventListener('change', apply);
    apply();
    const wrap = table.closest('.scroll') || table;
    wrap.before(bar);
  });

  // Charts: what a step is, under the pointer and by the arrow keys.
  for (const plot of all('[data-chart]')) {
    const readout = plot.querySelector('.readout');
    const steps = all('rect.step', plot).map(rect => {
      const title = rect.querySelector('title');
      const text = title ? title.textContent : '';
      if (title) title.remove(); // the line below says it
      return {rect, text};
    });
    if (!steps.length || !readout) continue;
    let current = -1;
    const show = i => {
      if (current >= 0) steps[current].rect.classList.remove('on');
      current = i;
      steps[i].rect.classList.add('on');
      readout.textContent = steps[i].text;
    };
    readout.hidden = false;
    readout.textContent = steps[steps.length - 1].text;
    steps.forEach((s, i) => s.rect.addEventListener('pointerenter', () => show(i)));
    plot.tabIndex = 0;
    plot.setAttribute('role', 'group');
    plot.setAttribute('aria-label', 'Chart; the arrow keys go from step to step');
    plot.addEventListener('keydown', e => {
      const last = steps.length - 1;
      const to = {ArrowLeft: current < 0 ? last : Math.max(current - 1, 0), ArrowRight: Math.min(current + 1, last), Home: 0, End: last}[e.key];
      if (to === undefined) return;
      e.preventDefault();
      show(to);
    });
  }

  // A link into something folded or filtered away shows it.
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let e = target; e; e = e.parentElement) {
      if (e.tagName === 'DETAILS') e.open = true;
      if (e.hidden) e.hidden = false;
    }
    target.scrollIntoView({block: 'center'});
  };
  addEventListener('hashchange', reveal);
  reveal();
})();

package report
import ("testing";"time";"math/rand";"strings")
func TestZZ(t *testing.T){
 for _,alpha:=range []int{2,4,26,3000}{ r:=rand.New(rand.NewSource(1)); g:=func() string{ b:=make([]rune,6000); for i:=range b { b[i]=rune('a'+r.Intn(alpha)) ; if alpha>1000 { b[i]=rune(0x4e00+r.Intn(alpha))}}; return string(b)}
 a,b:=g(),g(); s:=time.Now(); d:=Diff(a,b); t.Log(alpha,time.Since(s),len(d)) }
 s:=time.Now(); Diff(strings.Repeat("ab", 3000), strings.Repeat("ba", 3000)); t.Log(time.Since(s))
 s=time.Now(); Diff(strings.Repeat("\x1b\xff", 3000), strings.Repeat("\xff\x01", 3000)); t.Log(time.Since(s))
 s=time.Now(); Escape(strings.Repeat("\x1b\xff", 300000)); t.Log(time.Since(s))
}
